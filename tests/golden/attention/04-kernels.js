// matmul_select
function matmul_select(q_, k_, select, packedA, packedB) {
  const cs = new Float32Array(8);
  for (let i0 = 0; i0 < 2; i0++) {
    const atI0 = i0 * 32;
    for (let ai = 0; ai < 1; ai++) {
      for (let ar = 0; ar < 4; ar++) {
        const atI0_0 = atI0 + ar * 8;
        for (let ak0 = 0; ak0 < 8; ak0++) {
          packedA[ar + ak0 * 4] = q_[atI0_0 + ak0];
        }
      }
    }
    const atI0_2 = i0 * 16;
    for (let j = 0; j < 4; j += 4) {
      for (let bjj = 0; bjj < 2; bjj++) {
        const atJ = j + bjj * 2;
        const atBjj = bjj * 16;
        for (let bs = 0; bs < 2; bs++) {
          const i2 = atJ + bs;
          const atI0_1 = atI0 + i2 * 8;
          const atBs = atBjj + bs;
          for (let bk0 = 0; bk0 < 8; bk0++) {
            packedB[atBs + bk0 * 2] = k_[atI0_1 + bk0];
          }
        }
      }
      for (let i = 0; i < 4; i += 4) {
        const atI = i * 8;
        for (let jj = 0; jj < 4; jj += 2) {
          let c00 = 0;
          let c01 = 0;
          let c10 = 0;
          let c11 = 0;
          let c20 = 0;
          let c21 = 0;
          let c30 = 0;
          let c31 = 0;
          const atJj = jj * 8;
          for (let k = 0; k < 8; k++) {
            const a0 = packedA[atI + k * 4];
            const a1 = packedA[atI + k * 4 + 1];
            const a2 = packedA[atI + k * 4 + 2];
            const a3 = packedA[atI + k * 4 + 3];
            const b0 = packedB[atJj + k * 2];
            const b1 = packedB[atJj + k * 2 + 1];
            c00 += a0 * b0;
            c01 += a0 * b1;
            c10 += a1 * b0;
            c11 += a1 * b1;
            c20 += a2 * b0;
            c21 += a2 * b1;
            c30 += a3 * b0;
            c31 += a3 * b1;
          }
          cs[0] = c00;
          cs[1] = c01;
          cs[2] = c10;
          cs[3] = c11;
          cs[4] = c20;
          cs[5] = c21;
          cs[6] = c30;
          cs[7] = c31;
          const atJj0 = j + jj;
          for (let r = 0; r < 4; r++) {
            const i1 = i + r;
            const atR = r * 2;
            const atI0_3 = atI0_2 + i1 * 4;
            for (let s = 0; s < 2; s++) {
              const i2_0 = atJj0 + s;
              select[atI0_3 + i2_0] = i2_0 <= i1 ? cs[atR + s] * 0.3535533845424652 : -3.4028234663852886e+38;
            }
          }
        }
      }
    }
  }
}

// reduceMax_mul
function reduceMax_mul(select, mul) {
  const powerOfTwo = new Float32Array(1);
  const powerBits = new Int32Array(powerOfTwo.buffer);
  function fastExp(x) {
    if (!(x > -87 && x < 88)) return Math.exp(x);
    const n = (x * 1.4426950408889634 + 1024.5) | 0;
    const r = x - (n - 1024) * 0.6931471805599453;
    const s = r * r;
    powerBits[0] = (n - 897) << 23;
    const low = 1 + r + s * (0.5000000013470307 + r * 0.1666666671903906);
    const high = 0.041666464895353306 + r * 0.008333298466448572 + s * (0.0013933652488015674 + r * 0.00019899287781498395);
    return (low + s * s * high) * powerOfTwo[0];
  }
  for (let i1 = 0; i1 < 8; i1++) {
    let max0 = -Infinity;
    const atI1 = i1 * 4;
    max0 = Math.max(max0, select[atI1]);
    max0 = Math.max(max0, select[atI1 + 1]);
    max0 = Math.max(max0, select[atI1 + 2]);
    max0 = Math.max(max0, select[atI1 + 3]);
    let sum1 = 0;
    const t = Math.max(max0, -1.7014117331926443e+38);
    sum1 += fastExp(select[atI1] - t);
    sum1 += fastExp(select[atI1 + 1] - t);
    sum1 += fastExp(select[atI1 + 2] - t);
    sum1 += fastExp(select[atI1 + 3] - t);
    const t0 = Math.max(max0, -1.7014117331926443e+38);
    const t1 = 1 / Math.max(sum1, 0.5);
    mul[atI1] = fastExp(select[atI1] - t0) * t1;
    mul[atI1 + 1] = fastExp(select[atI1 + 1] - t0) * t1;
    mul[atI1 + 2] = fastExp(select[atI1 + 2] - t0) * t1;
    mul[atI1 + 3] = fastExp(select[atI1 + 3] - t0) * t1;
  }
}

// matmul
function matmul(mul, v, dotGeneral, packedA, packedB) {
  const cs = new Float32Array(8);
  for (let i0 = 0; i0 < 2; i0++) {
    const atI0 = i0 * 16;
    for (let ai = 0; ai < 1; ai++) {
      for (let ar = 0; ar < 4; ar++) {
        const atI0_0 = atI0 + ar * 4;
        for (let ak0 = 0; ak0 < 4; ak0++) {
          packedA[ar + ak0 * 4] = mul[atI0_0 + ak0];
        }
      }
    }
    const atI0_1 = i0 * 32;
    for (let j = 0; j < 8; j += 8) {
      for (let bjj = 0; bjj < 4; bjj++) {
        const atJ = j + bjj * 2;
        const atBjj = bjj * 8;
        for (let bs = 0; bs < 2; bs++) {
          const i2 = atJ + bs;
          const atI0_2 = atI0_1 + i2;
          const atBs = atBjj + bs;
          for (let bk0 = 0; bk0 < 4; bk0++) {
            packedB[atBs + bk0 * 2] = v[atI0_2 + bk0 * 8];
          }
        }
      }
      for (let i = 0; i < 4; i += 4) {
        const atI = i * 4;
        for (let jj = 0; jj < 8; jj += 2) {
          let c00 = 0;
          let c01 = 0;
          let c10 = 0;
          let c11 = 0;
          let c20 = 0;
          let c21 = 0;
          let c30 = 0;
          let c31 = 0;
          const atJj = jj * 4;
          for (let k = 0; k < 4; k++) {
            const a0 = packedA[atI + k * 4];
            const a1 = packedA[atI + k * 4 + 1];
            const a2 = packedA[atI + k * 4 + 2];
            const a3 = packedA[atI + k * 4 + 3];
            const b0 = packedB[atJj + k * 2];
            const b1 = packedB[atJj + k * 2 + 1];
            c00 += a0 * b0;
            c01 += a0 * b1;
            c10 += a1 * b0;
            c11 += a1 * b1;
            c20 += a2 * b0;
            c21 += a2 * b1;
            c30 += a3 * b0;
            c31 += a3 * b1;
          }
          cs[0] = c00;
          cs[1] = c01;
          cs[2] = c10;
          cs[3] = c11;
          cs[4] = c20;
          cs[5] = c21;
          cs[6] = c30;
          cs[7] = c31;
          const atJj0 = j + jj;
          for (let r = 0; r < 4; r++) {
            const i1 = i + r;
            const atR = r * 2;
            const atI0_3 = atI0_1 + i1 * 8;
            for (let s = 0; s < 2; s++) {
              const i2_0 = atJj0 + s;
              dotGeneral[atI0_3 + i2_0] = cs[atR + s];
            }
          }
        }
      }
    }
  }
}
