// matmul_reciprocal
function matmul_reciprocal(classes, convert, reciprocal, packedA, packedB) {
  const cs = new Int32Array(1);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 1; ar++) {
      for (let ak0 = 0; ak0 < 5; ak0++) {
        packedA[ak0] = classes[ak0] !== -100 ? 1 : 0;
      }
    }
  }
  for (let j = 0; j < 1; j++) {
    for (let bjj = 0; bjj < 1; bjj++) {
      for (let bs = 0; bs < 1; bs++) {
        for (let bk0 = 0; bk0 < 5; bk0++) {
          packedB[bk0] = classes[bk0] !== -100 ? 1 : 0;
        }
      }
    }
    for (let i = 0; i < 1; i++) {
      for (let jj = 0; jj < 1; jj++) {
        let c00 = 0;
        for (let k = 0; k < 5; k++) {
          const a = packedA[k];
          const b = packedB[k];
          c00 = (c00 + Math.imul(a, b)) | 0;
        }
        cs[0] = c00;
        const t = Math.fround(Math.fround(cs[0]));
        const t0 = 1 / t;
        for (let r = 0; r < 1; r++) {
          for (let s = 0; s < 1; s++) {
            convert[0] = t;
            reciprocal[0] = t0;
          }
        }
      }
    }
  }
}

// matmul_maximum
function matmul_maximum(x, weight, bias, maximum, packedA, packedB) {
  const cs = new Float32Array(8);
  for (let ai = 0; ai < 2; ai++) {
    const atAi = ai * 4;
    const atAi0 = ai * 24;
    for (let ar = 0; ar < 4; ar++) {
      const i0 = atAi + ar;
      const atAr = atAi + ar;
      const size = i0 * 6;
      const atAr0 = atAi0 + ar;
      for (let ak0 = 0; ak0 < 6; ak0++) {
        packedA[atAr0 + ak0 * 4] = atAr <= 4 ? x[size + ak0] : 0;
      }
    }
  }
  for (let j = 0; j < 8; j += 8) {
    for (let bjj = 0; bjj < 4; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 12;
      for (let bs = 0; bs < 2; bs++) {
        const i1 = atJ + bs;
        const size0 = i1 * 6;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 6; bk0++) {
          packedB[atBs + bk0 * 2] = weight[size0 + bk0];
        }
      }
    }
    for (let i = 0; i < 5; i += 4) {
      const atI = i * 6;
      const least = Math.min(4, -i + 5);
      for (let jj = 0; jj < 8; jj += 2) {
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
        for (let r = 0; r < least; r++) {
          const i0_0 = i + r;
          const atR = r * 2;
          const size1 = i0_0 * 8;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            maximum[size1 + i1_0] = Math.max(cs[atR + s] + bias[i1_0], 0);
          }
        }
      }
    }
  }
}

// matmul_add
function matmul_add(maximum, weight, bias, add, packedA, packedB) {
  const cs = new Float32Array(8);
  for (let ai = 0; ai < 2; ai++) {
    const atAi = ai * 4;
    const atAi0 = ai * 32;
    for (let ar = 0; ar < 4; ar++) {
      const i0 = atAi + ar;
      const atAr = atAi + ar;
      const size = i0 * 8;
      const atAr0 = atAi0 + ar;
      for (let ak0 = 0; ak0 < 8; ak0++) {
        packedA[atAr0 + ak0 * 4] = atAr <= 4 ? maximum[size + ak0] : 0;
      }
    }
  }
  for (let j = 0; j < 4; j += 4) {
    for (let bjj = 0; bjj < 2; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 16;
      for (let bs = 0; bs < 2; bs++) {
        const i1 = atJ + bs;
        const size0 = i1 * 8;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 8; bk0++) {
          packedB[atBs + bk0 * 2] = weight[size0 + bk0];
        }
      }
    }
    for (let i = 0; i < 5; i += 4) {
      const atI = i * 8;
      const least = Math.min(4, -i + 5);
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
        for (let r = 0; r < least; r++) {
          const i0_0 = i + r;
          const atR = r * 2;
          const size1 = i0_0 * 4;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            add[size1 + i1_0] = cs[atR + s] + bias[i1_0];
          }
        }
      }
    }
  }
}

// reduceMax_add
function reduceMax_add(add, classes, reciprocal, add2, convert, reduceSum) {
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
  let sum3 = 0;
  const reciprocalAt = reciprocal[0];
  const reciprocalAt0 = reciprocal[0];
  const convertAt = convert[0];
  for (let i0 = 0; i0 < 5; i0++) {
    let max0 = -Infinity;
    let sum4 = 0;
    const atI0 = i0 * 4;
    max0 = Math.max(max0, add[atI0]);
    const classesAt = classes[i0];
    const t = classesAt >= 0 && classesAt < 4;
    const t0 = t ? classesAt : 0;
    const t1 = (classesAt !== -100 ? reciprocalAt : 0) * (t || classesAt === -100 ? -1 : NaN);
    sum4 += -(0 === t0 ? t1 : 0);
    max0 = Math.max(max0, add[atI0 + 1]);
    sum4 += -(1 === t0 ? t1 : 0);
    max0 = Math.max(max0, add[atI0 + 2]);
    sum4 += -(2 === t0 ? t1 : 0);
    max0 = Math.max(max0, add[atI0 + 3]);
    sum4 += -(3 === t0 ? t1 : 0);
    let sum1 = 0;
    sum1 += fastExp(add[atI0] - max0);
    sum1 += fastExp(add[atI0 + 1] - max0);
    sum1 += fastExp(add[atI0 + 2] - max0);
    sum1 += fastExp(add[atI0 + 3] - max0);
    let sum2 = 0;
    const classesAt0 = classes[i0];
    const t2 = classesAt0 >= 0 && classesAt0 < 4;
    const t3 = t2 ? classesAt0 : 0;
    const t4 = 0 === t3;
    const t5 = add[atI0] - max0;
    const t6 = Math.log(sum1);
    sum2 += t4 ? t5 - t6 : 0;
    const t7 = (classesAt0 !== -100 ? reciprocalAt0 : 0) * (t2 || classesAt0 === -100 ? -1 : NaN);
    const t8 = sum4 / (Math.fround(sum4) === 0 ? 1 : sum1);
    add2[atI0] = (t4 ? t7 : 0) + t8 * fastExp(t5);
    const t9 = 1 === t3;
    const t10 = add[atI0 + 1] - max0;
    sum2 += t9 ? t10 - t6 : 0;
    add2[atI0 + 1] = (t9 ? t7 : 0) + t8 * fastExp(t10);
    const t11 = 2 === t3;
    const t12 = add[atI0 + 2] - max0;
    sum2 += t11 ? t12 - t6 : 0;
    add2[atI0 + 2] = (t11 ? t7 : 0) + t8 * fastExp(t12);
    const t13 = 3 === t3;
    const t14 = add[atI0 + 3] - max0;
    sum2 += t13 ? t14 - t6 : 0;
    add2[atI0 + 3] = (t13 ? t7 : 0) + t8 * fastExp(t14);
    const classesAt1 = classes[i0];
    sum3 += (classesAt1 !== -100 ? sum2 * (classesAt1 >= 0 && classesAt1 < 4 || classesAt1 === -100 ? -1 : NaN) : 0) / convertAt;
  }
  reduceSum[0] = sum3;
}

// matmul_select
function matmul_select(add, weight, maximum, select, packedA, packedB) {
  const cs = new Float32Array(8);
  for (let ai = 0; ai < 2; ai++) {
    const atAi = ai * 4;
    const atAi0 = ai * 16;
    for (let ar = 0; ar < 4; ar++) {
      const i0 = atAi + ar;
      const atAr = atAi + ar;
      const size = i0 * 4;
      const atAr0 = atAi0 + ar;
      for (let ak0 = 0; ak0 < 4; ak0++) {
        packedA[atAr0 + ak0 * 4] = atAr <= 4 ? add[size + ak0] : 0;
      }
    }
  }
  for (let j = 0; j < 8; j += 8) {
    for (let bjj = 0; bjj < 4; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 8;
      for (let bs = 0; bs < 2; bs++) {
        const i1 = atJ + bs;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 4; bk0++) {
          packedB[atBs + bk0 * 2] = weight[i1 + bk0 * 8];
        }
      }
    }
    for (let i = 0; i < 5; i += 4) {
      const atI = i * 4;
      const least = Math.min(4, -i + 5);
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
        for (let r = 0; r < least; r++) {
          const i0_0 = i + r;
          const size0 = i0_0 * 8;
          const atR = r * 2;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            select[size0 + i1_0] = 0 < maximum[size0 + i1_0] ? cs[atR + s] : 0;
          }
        }
      }
    }
  }
}

// matmul_sub
function matmul_sub(select, x, weight, bias, packedA, packedB) {
  for (let i1 = 0; i1 < 8; i1++) {
    let sum0 = 0;
    sum0 += select[i1];
    sum0 += select[i1 + 8];
    sum0 += select[i1 + 16];
    sum0 += select[i1 + 24];
    sum0 += select[i1 + 32];
    bias[i1] = bias[i1] - Math.fround(sum0) * 0.10000000149011612;
  }
  const cs = new Float32Array(8);
  for (let ai = 0; ai < 2; ai++) {
    const atAi = ai * 4;
    const atAi0 = ai * 20;
    for (let ar = 0; ar < 4; ar++) {
      const i0 = atAi + ar;
      const atAr = atAi0 + ar;
      for (let ak0 = 0; ak0 < 5; ak0++) {
        packedA[atAr + ak0 * 4] = select[i0 + ak0 * 8];
      }
    }
  }
  for (let j = 0; j < 6; j += 6) {
    for (let bjj = 0; bjj < 3; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 10;
      for (let bs = 0; bs < 2; bs++) {
        const i1_0 = atJ + bs;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 5; bk0++) {
          packedB[atBs + bk0 * 2] = x[i1_0 + bk0 * 6];
        }
      }
    }
    for (let i = 0; i < 8; i += 4) {
      const atI = i * 5;
      for (let jj = 0; jj < 6; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        let c20 = 0;
        let c21 = 0;
        let c30 = 0;
        let c31 = 0;
        const atJj = jj * 5;
        for (let k = 0; k < 5; k++) {
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
          const size = i0_0 * 6;
          const atR = r * 2;
          for (let s = 0; s < 2; s++) {
            const i1_1 = atJj0 + s;
            weight[size + i1_1] = weight[size + i1_1] - cs[atR + s] * 0.10000000149011612;
          }
        }
      }
    }
  }
}

// matmul_sub2
function matmul_sub2(add, maximum, weight, bias, packedA, packedB) {
  for (let i1 = 0; i1 < 4; i1++) {
    let sum0 = 0;
    sum0 += add[i1];
    sum0 += add[i1 + 4];
    sum0 += add[i1 + 8];
    sum0 += add[i1 + 12];
    sum0 += add[i1 + 16];
    bias[i1] = bias[i1] - Math.fround(sum0) * 0.10000000149011612;
  }
  const cs = new Float32Array(8);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 4; ar++) {
      for (let ak0 = 0; ak0 < 5; ak0++) {
        packedA[ar + ak0 * 4] = add[ar + ak0 * 4];
      }
    }
  }
  for (let j = 0; j < 8; j += 8) {
    for (let bjj = 0; bjj < 4; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 10;
      for (let bs = 0; bs < 2; bs++) {
        const i1_0 = atJ + bs;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 5; bk0++) {
          packedB[atBs + bk0 * 2] = maximum[i1_0 + bk0 * 8];
        }
      }
    }
    for (let i = 0; i < 4; i += 4) {
      const atI = i * 5;
      for (let jj = 0; jj < 8; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        let c20 = 0;
        let c21 = 0;
        let c30 = 0;
        let c31 = 0;
        const atJj = jj * 5;
        for (let k = 0; k < 5; k++) {
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
          const i0 = i + r;
          const size = i0 * 8;
          const atR = r * 2;
          for (let s = 0; s < 2; s++) {
            const i1_1 = atJj0 + s;
            weight[size + i1_1] = weight[size + i1_1] - cs[atR + s] * 0.10000000149011612;
          }
        }
      }
    }
  }
}
