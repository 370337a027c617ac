// reduceSum_add
function reduceSum_add(x, weight, bias, add) {
  for (let i0 = 0; i0 < 4; i0++) {
    let sum0 = 0;
    const atI0 = i0 * 8;
    sum0 += x[atI0];
    sum0 += x[atI0 + 1];
    sum0 += x[atI0 + 2];
    sum0 += x[atI0 + 3];
    sum0 += x[atI0 + 4];
    sum0 += x[atI0 + 5];
    sum0 += x[atI0 + 6];
    sum0 += x[atI0 + 7];
    let sum1 = 0;
    const t = sum0 * 0.125;
    const t0 = x[atI0] - t;
    sum1 += t0 * t0;
    const t1 = x[atI0 + 1] - t;
    sum1 += t1 * t1;
    const t2 = x[atI0 + 2] - t;
    sum1 += t2 * t2;
    const t3 = x[atI0 + 3] - t;
    sum1 += t3 * t3;
    const t4 = x[atI0 + 4] - t;
    sum1 += t4 * t4;
    const t5 = x[atI0 + 5] - t;
    sum1 += t5 * t5;
    const t6 = x[atI0 + 6] - t;
    sum1 += t6 * t6;
    const t7 = x[atI0 + 7] - t;
    sum1 += t7 * t7;
    const t8 = sum0 * 0.125;
    const t9 = 1 / Math.sqrt(sum1 * 0.125 + 0.000009999999747378752);
    add[atI0] = (x[atI0] - t8) * t9 * weight[0] + bias[0];
    add[atI0 + 1] = (x[atI0 + 1] - t8) * t9 * weight[1] + bias[1];
    add[atI0 + 2] = (x[atI0 + 2] - t8) * t9 * weight[2] + bias[2];
    add[atI0 + 3] = (x[atI0 + 3] - t8) * t9 * weight[3] + bias[3];
    add[atI0 + 4] = (x[atI0 + 4] - t8) * t9 * weight[4] + bias[4];
    add[atI0 + 5] = (x[atI0 + 5] - t8) * t9 * weight[5] + bias[5];
    add[atI0 + 6] = (x[atI0 + 6] - t8) * t9 * weight[6] + bias[6];
    add[atI0 + 7] = (x[atI0 + 7] - t8) * t9 * weight[7] + bias[7];
  }
}
