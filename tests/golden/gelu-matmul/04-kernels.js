// matmul_mul
function matmul_mul(packedA, packedB, w, x, b, mul) {
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
  function roundEven(x) {
    const a = Math.abs(x);
    if (!(a < 4503599627370496)) return x;
    const r = a + 4503599627370496 - 4503599627370496;
    return x < 0 || Object.is(x, -0) ? -r : r;
  }
  const tile = new Float32Array(8);
  // pack the left operand
  for (let p = 0; p < 2; p++) {
    const atP = p * 4;
    const atP0 = p * 64;
    for (let s = 0; s < 4; s++) {
      const i0 = atP + s;
      const size = i0 * 16;
      const atS = atP0 + s;
      for (let k0 = 0; k0 < 16; k0++) {
        packedA[atS + k0 * 4] = x[size + k0];
      }
    }
  }
  for (let j = 0; j < 12; j += 12) {
    // pack columns of the right operand
    const quotient = Math.floor((-j + 1) / 2);
    const pEnd = quotient + 6;
    for (let p = 0; p < pEnd; p++) {
      const atP1 = j + p * 2;
      const atP2 = p * 32;
      for (let s = 0; s < 2; s++) {
        const i1 = atP1 + s;
        const atS0 = atP2 + s;
        for (let k0 = 0; k0 < 16; k0++) {
          packedB[atS0 + k0 * 2] = w[i1 + k0 * 12];
        }
      }
    }
    const atJ = -j;
    for (let i = 0; i < 8; i += 4) {
      const jjEnd = atJ + 12;
      const atI = i * 16;
      for (let jj = 0; jj < jjEnd; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        let c20 = 0;
        let c21 = 0;
        let c30 = 0;
        let c31 = 0;
        const atJj = jj * 16;
        for (let k = 0; k < 16; k++) {
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
          const i0_0 = i + r;
          const atR = r * 2;
          const size0 = i0_0 * 12;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            const t = tile[atR + s] + b[i1_0];
            const t0 = t * -0.7071067690849304;
            const t1 = t0 < 0;
            const t2 = t > 60 ? 60 : t < -60 ? -60 : t;
            const t3 = t2 * t2;
            const t4 = roundEven(t2 * 64) * 0.015625;
            const t5 = t2 - t4;
            const t6 = 1 / ((t1 ? -t0 : t0) + 2.5);
            const t7 = t6 * -5 + 1;
            const t8 = fastExp(t3 * -0.5) * ((t4 * t4 - t3 + t4 * t5 * 2 + t5 * t5) * -0.5 + 1) * (((((((((((t7 * -0.00007292145892279223 + 0.00002686559128051158) * t7 + 0.0006662207888439298) * t7 + -0.0004136037896387279) * t7 + -0.004803454969078302) * t7 + 0.00838288851082325) * t7 + 0.02835886739194393) * t7 + -0.1712494194507599) * t7 + 0.45391425490379333) * t7 + -0.8046519160270691) * t7 + 1.0540318489074707) * t6);
            mul[size0 + i1_0] = t * ((t1 ? 2 - t8 : t8) * 0.5);
          }
        }
      }
    }
  }
}
