// matmul_mul
function matmul_mul(x, w, b, mul, packedA, packedB) {
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
  function fastErf(x) {
    const a = Math.abs(x);
    if (a < 1) {
      const s = x * x;
      return x * (1.128379167062361 + s * (-0.3761263847599014 + s * (0.11283782622047146 + s * (-0.026865438309701183 + s * (0.005221053410333502 + s * (-0.0008484396519194107 + s * (0.00011268253668881237 - s * 0.000009673590170065557)))))));
    }
    if (a >= 4) return x < 0 ? -1 : 1;
    const t = 1 / (1 + 0.5 * a);
    const q = -0.0001454868610056972 + t * (0.28478660630205604 + t * (0.2604628572135361 + t * (0.34517139642570605 + t * (-0.09829056578529233 + t * (0.5568571775047246 + t * (-0.46693696263044726 + t * 0.1181420361869031))))));
    const y = 1 - fastExp(-a * a) * q;
    return x < 0 ? -y : y;
  }
  const cs = new Float32Array(8);
  for (let ai = 0; ai < 2; ai++) {
    const atAi = ai * 4;
    const atAi0 = ai * 64;
    for (let ar = 0; ar < 4; ar++) {
      const i0 = atAi + ar;
      const size = i0 * 16;
      const atAr = atAi0 + ar;
      for (let ak0 = 0; ak0 < 16; ak0++) {
        packedA[atAr + ak0 * 4] = x[size + ak0];
      }
    }
  }
  for (let j = 0; j < 12; j += 12) {
    for (let bjj = 0; bjj < 6; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 32;
      for (let bs = 0; bs < 2; bs++) {
        const i1 = atJ + bs;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 16; bk0++) {
          packedB[atBs + bk0 * 2] = w[i1 + bk0 * 12];
        }
      }
    }
    for (let i = 0; i < 8; i += 4) {
      const atI = i * 16;
      for (let jj = 0; jj < 12; jj += 2) {
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
          const i0_0 = i + r;
          const atR = r * 2;
          const size0 = i0_0 * 12;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            const t = cs[atR + s] + b[i1_0];
            mul[size0 + i1_0] = t * ((fastErf(t * 0.7071067690849304) + 1) * 0.5);
          }
        }
      }
    }
  }
}
