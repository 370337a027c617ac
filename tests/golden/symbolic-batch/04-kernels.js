// matmul_add
function matmul_add(x, w, b, add, packedB, packedA, N) {
  const cs = new Float32Array(8);
  for (let j = 0; j < 4; j += 4) {
    for (let bjj = 0; bjj < 2; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 12;
      for (let bs = 0; bs < 2; bs++) {
        const i1 = atJ + bs;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 6; bk0++) {
          packedB[atBs + bk0 * 2] = w[i1 + bk0 * 4];
        }
      }
    }
    for (let i = 0; i < N; i += 4) {
      const least = Math.min(4, N - i);
      for (let ar = 0; ar < least; ar++) {
        const i0 = i + ar;
        const size = i0 * 6;
        for (let ak0 = 0; ak0 < 6; ak0++) {
          packedA[ar + ak0 * 4] = x[size + ak0];
        }
      }
      for (let jj = 0; jj < 4; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        let c20 = 0;
        let c21 = 0;
        let c30 = 0;
        let c31 = 0;
        const atJj = jj * 6;
        for (let k = 0; k < 6; k++) {
          const a0 = packedA[k * 4];
          const a1 = packedA[k * 4 + 1];
          const a2 = packedA[k * 4 + 2];
          const a3 = packedA[k * 4 + 3];
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
        for (let r = 0; r < least; r++) {
          const i0_0 = i + r;
          const atR = r * 2;
          const size0 = i0_0 * 4;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            add[size0 + i1_0] = cs[atR + s] + b[i1_0];
          }
        }
      }
    }
  }
}

// reduceMax_mul
function reduceMax_mul(add, mul, N) {
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
  for (let i0 = 0; i0 < N; i0++) {
    let max0 = -Infinity;
    const atI0 = i0 * 4;
    max0 = Math.max(max0, add[atI0]);
    max0 = Math.max(max0, add[atI0 + 1]);
    max0 = Math.max(max0, add[atI0 + 2]);
    max0 = Math.max(max0, add[atI0 + 3]);
    let sum1 = 0;
    sum1 += fastExp(add[atI0] - max0);
    sum1 += fastExp(add[atI0 + 1] - max0);
    sum1 += fastExp(add[atI0 + 2] - max0);
    sum1 += fastExp(add[atI0 + 3] - max0);
    const t = 1 / sum1;
    mul[atI0] = fastExp(add[atI0] - max0) * t;
    mul[atI0 + 1] = fastExp(add[atI0 + 1] - max0) * t;
    mul[atI0 + 2] = fastExp(add[atI0 + 2] - max0) * t;
    mul[atI0 + 3] = fastExp(add[atI0 + 3] - max0) * t;
  }
}
