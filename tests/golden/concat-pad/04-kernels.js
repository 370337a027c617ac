// reduceSum_mul
function reduceSum_mul(x, y_, mul) {
  for (let i0 = 0; i0 < 6; i0++) {
    let sum0 = 0;
    const ok = i0 <= 3;
    const atI0 = i0 * 4;
    sum0 += i0 > 0 ? (ok ? (i0 > 0 && i0 <= 3 ? x[atI0 - 4] : 0) : i0 >= 4 ? y_[atI0 - 16] : 0) : 0;
    sum0 += i0 > 0 ? (ok ? (i0 > 0 && i0 <= 3 ? x[atI0 - 3] : 0) : i0 >= 4 ? y_[atI0 - 15] : 0) : 0;
    sum0 += i0 > 0 ? (ok ? (i0 > 0 && i0 <= 3 ? x[atI0 - 2] : 0) : i0 >= 4 ? y_[atI0 - 14] : 0) : 0;
    sum0 += i0 > 0 ? (ok ? (i0 > 0 && i0 <= 3 ? x[atI0 - 1] : 0) : i0 >= 4 ? y_[atI0 - 13] : 0) : 0;
    sum0 += 0;
    sum0 += 0;
    const ok0 = i0 <= 3;
    const atI0_0 = i0 * 6;
    mul[atI0_0] = (i0 > 0 ? (ok0 ? (i0 > 0 && i0 <= 3 ? x[atI0 - 4] : 0) : i0 >= 4 ? y_[atI0 - 16] : 0) : 0) * sum0;
    mul[atI0_0 + 1] = (i0 > 0 ? (ok0 ? (i0 > 0 && i0 <= 3 ? x[atI0 - 3] : 0) : i0 >= 4 ? y_[atI0 - 15] : 0) : 0) * sum0;
    mul[atI0_0 + 2] = (i0 > 0 ? (ok0 ? (i0 > 0 && i0 <= 3 ? x[atI0 - 2] : 0) : i0 >= 4 ? y_[atI0 - 14] : 0) : 0) * sum0;
    mul[atI0_0 + 3] = (i0 > 0 ? (ok0 ? (i0 > 0 && i0 <= 3 ? x[atI0 - 1] : 0) : i0 >= 4 ? y_[atI0 - 13] : 0) : 0) * sum0;
    mul[atI0_0 + 4] = 0 * sum0;
    mul[atI0_0 + 5] = 0 * sum0;
  }
}
