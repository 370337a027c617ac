// reduceSum_add
function reduceSum_add(x, weight, bias, add, runningMean, runningVar) {
  for (let i1 = 0; i1 < 3; i1++) {
    let sum0 = 0;
    sum0 += x[i1];
    sum0 += x[i1 + 3];
    sum0 += x[i1 + 6];
    sum0 += x[i1 + 9];
    sum0 += x[i1 + 12];
    sum0 += x[i1 + 15];
    let sum1 = 0;
    const t = sum0 / 6;
    const t0 = x[i1] - t;
    sum1 += t0 * t0;
    const t1 = x[i1 + 3] - t;
    sum1 += t1 * t1;
    const t2 = x[i1 + 6] - t;
    sum1 += t2 * t2;
    const t3 = x[i1 + 9] - t;
    sum1 += t3 * t3;
    const t4 = x[i1 + 12] - t;
    sum1 += t4 * t4;
    const t5 = x[i1 + 15] - t;
    sum1 += t5 * t5;
    const t6 = sum0 / 6;
    const t7 = 1 / Math.sqrt(sum1 / 6 + 0.000009999999747378752);
    const weightAt = weight[i1];
    const biasAt = bias[i1];
    add[i1] = (x[i1] - t6) * t7 * weightAt + biasAt;
    add[i1 + 3] = (x[i1 + 3] - t6) * t7 * weightAt + biasAt;
    add[i1 + 6] = (x[i1 + 6] - t6) * t7 * weightAt + biasAt;
    add[i1 + 9] = (x[i1 + 9] - t6) * t7 * weightAt + biasAt;
    add[i1 + 12] = (x[i1 + 12] - t6) * t7 * weightAt + biasAt;
    add[i1 + 15] = (x[i1 + 15] - t6) * t7 * weightAt + biasAt;
    const new0 = Math.fround(runningMean[i1] * 0.8999999761581421 + sum0 / 6 * 0.10000000149011612);
    const new1 = Math.fround(runningVar[i1] * 0.8999999761581421 + sum1 / 5 * 0.10000000149011612);
    runningMean[i1] = new0;
    runningVar[i1] = new1;
  }
}
