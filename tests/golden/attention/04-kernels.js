// matmul_select
function matmul_select(packedA, packedB, k_, q_, select) {
  const tile = new Float32Array(8);
  for (let i0 = 0; i0 < 2; i0++) {
    // pack the left operand
    const atI0 = i0 * 32;
    for (let p = 0; p < 1; p++) {
      for (let s = 0; s < 4; s++) {
        const atS = atI0 + s * 8;
        for (let k0 = 0; k0 < 8; k0++) {
          packedA[s + k0 * 4] = q_[atS + k0];
        }
      }
    }
    const atI0_1 = i0 * 16;
    for (let j = 0; j < 4; j += 4) {
      // pack columns of the right operand
      const quotient = Math.floor((-j + 1) / 2);
      const pEnd = quotient + 2;
      for (let p = 0; p < pEnd; p++) {
        const atP = j + p * 2;
        const atP0 = p * 16;
        for (let s = 0; s < 2; s++) {
          const i2 = atP + s;
          const atI0_0 = atI0 + i2 * 8;
          const atS0 = atP0 + s;
          for (let k0 = 0; k0 < 8; k0++) {
            packedB[atS0 + k0 * 2] = k_[atI0_0 + k0];
          }
        }
      }
      const atJ = -j;
      for (let i = 0; i < 4; i += 4) {
        const jjEnd = atJ + 4;
        const atI = i * 8;
        for (let jj = 0; jj < jjEnd; jj += 2) {
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
          tile[0] = c00;
          tile[1] = c01;
          tile[2] = c10;
          tile[3] = c11;
          tile[4] = c20;
          tile[5] = c21;
          tile[6] = c30;
          tile[7] = c31;
          const atJj0 = j + jj;
          for (let r = 0; r < 4; r++) {
            const i1 = i + r;
            const atR = r * 2;
            const atI0_2 = atI0_1 + i1 * 4;
            for (let s = 0; s < 2; s++) {
              const i2_0 = atJj0 + s;
              select[atI0_2 + i2_0] = i2_0 <= i1 ? tile[atR + s] * 0.3535533845424652 : -3.4028234663852886e+38;
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
function matmul(packedA, packedB, v, mul, dotGeneral) {
  const tile = new Float32Array(8);
  for (let i0 = 0; i0 < 2; i0++) {
    // pack the left operand
    const atI0 = i0 * 16;
    for (let p = 0; p < 1; p++) {
      for (let s = 0; s < 4; s++) {
        const atS = atI0 + s * 4;
        for (let k0 = 0; k0 < 4; k0++) {
          packedA[s + k0 * 4] = mul[atS + k0];
        }
      }
    }
    const atI0_0 = i0 * 32;
    for (let j = 0; j < 8; j += 8) {
      // pack columns of the right operand
      const quotient = Math.floor((-j + 1) / 2);
      const pEnd = quotient + 4;
      for (let p = 0; p < pEnd; p++) {
        const atP = j + p * 2;
        const atP0 = p * 8;
        for (let s = 0; s < 2; s++) {
          const i2 = atP + s;
          const atI0_1 = atI0_0 + i2;
          const atS0 = atP0 + s;
          for (let k0 = 0; k0 < 4; k0++) {
            packedB[atS0 + k0 * 2] = v[atI0_1 + k0 * 8];
          }
        }
      }
      const atJ = -j;
      for (let i = 0; i < 4; i += 4) {
        const jjEnd = atJ + 8;
        const atI = i * 4;
        for (let jj = 0; jj < jjEnd; jj += 2) {
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
          tile[0] = c00;
          tile[1] = c01;
          tile[2] = c10;
          tile[3] = c11;
          tile[4] = c20;
          tile[5] = c21;
          tile[6] = c30;
          tile[7] = c31;
          const atJj0 = j + jj;
          for (let r = 0; r < 4; r++) {
            const i1 = i + r;
            const atR = r * 2;
            const atI0_2 = atI0_0 + i1 * 8;
            for (let s = 0; s < 2; s++) {
              const i2_0 = atJj0 + s;
              dotGeneral[atI0_2 + i2_0] = tile[atR + s];
            }
          }
        }
      }
    }
  }
}
