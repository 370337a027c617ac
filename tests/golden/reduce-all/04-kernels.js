// reduceSum_argMax
function reduceSum_argMax(x, div, reduceMax, argMax) {
  let sum0 = 0;
  let max1 = -Infinity;
  let argMax2 = 0;
  let argMax2Best = -Infinity;
  for (let r1 = 0; r1 < 96; r1++) {
    const xAt = x[r1];
    sum0 += xAt;
    max1 = Math.max(max1, xAt);
    if (xAt > argMax2Best || (xAt !== xAt && argMax2Best === argMax2Best)) {
      argMax2Best = xAt;
      argMax2 = r1;
    }
  }
  div[0] = sum0 / 96;
  reduceMax[0] = max1;
  argMax[0] = argMax2;
}
