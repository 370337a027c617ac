// reduceMax_div
function reduceMax_div(x, div) {
  for (let i0 = 0; i0 < 4; i0++) {
    let max0 = -Infinity;
    const atI0 = i0 * 10;
    for (let r1 = 0; r1 < 10; r1++) {
      max0 = Math.max(max0, x[atI0 + r1]);
    }
    let sum1 = 0;
    for (let r1 = 0; r1 < 10; r1++) {
      sum1 += Math.exp(x[atI0 + r1] - max0);
    }
    for (let r1 = 0; r1 < 10; r1++) {
      div[atI0 + r1] = Math.exp(x[atI0 + r1] - max0) / sum1;
    }
  }
}
