// matmul_reciprocal
function matmul_reciprocal(packedA, packedB, classes, convert, reciprocal) {
  const tile = new Int32Array(1);
  // pack the left operand
  for (let p = 0; p < 1; p++) {
    for (let s = 0; s < 1; s++) {
      for (let k0 = 0; k0 < 5; k0++) {
        packedA[k0] = classes[k0] !== -100 ? 1 : 0;
      }
    }
  }
  for (let j = 0; j < 1; j++) {
    // pack columns of the right operand
    for (let p = 0; p < 1; p++) {
      for (let s = 0; s < 1; s++) {
        for (let k0 = 0; k0 < 5; k0++) {
          packedB[k0] = classes[k0] !== -100 ? 1 : 0;
        }
      }
    }
    for (let i = 0; i < 1; i++) {
      for (let jj = 0; jj < 1; jj++) {
        let c00 = 0;
        for (let k = 0; k < 5; k++) {
          const a0 = packedA[k];
          const b0 = packedB[k];
          c00 = (c00 + Math.imul(a0, b0)) | 0;
        }
        tile[0] = c00;
        const t = Math.fround(Math.fround(tile[0]));
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
function matmul_maximum(packedA, packedB, weight, x, bias, maximum) {
  const tile = new Float32Array(8);
  // pack the left operand
  for (let p = 0; p < 2; p++) {
    const atP = p * 4;
    const atP0 = p * 24;
    for (let s = 0; s < 4; s++) {
      const i0 = atP + s;
      const atS = atP + s;
      const size = i0 * 6;
      const atS0 = atP0 + s;
      for (let k0 = 0; k0 < 6; k0++) {
        packedA[atS0 + k0 * 4] = atS <= 4 ? x[size + k0] : 0;
      }
    }
  }
  for (let j = 0; j < 8; j += 8) {
    // pack columns of the right operand
    const quotient = Math.floor((-j + 1) / 2);
    const pEnd = quotient + 4;
    for (let p = 0; p < pEnd; p++) {
      const atP1 = j + p * 2;
      const atP2 = p * 12;
      for (let s = 0; s < 2; s++) {
        const i1 = atP1 + s;
        const size0 = i1 * 6;
        const atS1 = atP2 + s;
        for (let k0 = 0; k0 < 6; k0++) {
          packedB[atS1 + k0 * 2] = weight[size0 + k0];
        }
      }
    }
    const atJ = -j;
    for (let i = 0; i < 5; i += 4) {
      const jjEnd = atJ + 8;
      const atI = i * 6;
      const least = Math.min(4, -i + 5);
      for (let jj = 0; jj < jjEnd; jj += 2) {
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
        tile[0] = c00;
        tile[1] = c01;
        tile[2] = c10;
        tile[3] = c11;
        tile[4] = c20;
        tile[5] = c21;
        tile[6] = c30;
        tile[7] = c31;
        const atJj0 = j + jj;
        for (let r = 0; r < least; r++) {
          const i0_0 = i + r;
          const atR = r * 2;
          const size1 = i0_0 * 8;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            maximum[size1 + i1_0] = Math.max(tile[atR + s] + bias[i1_0], 0);
          }
        }
      }
    }
  }
}

// matmul_add
function matmul_add(packedA, packedB, weight, maximum, bias, add) {
  const tile = new Float32Array(8);
  // pack the left operand
  for (let p = 0; p < 2; p++) {
    const atP = p * 4;
    const atP0 = p * 32;
    for (let s = 0; s < 4; s++) {
      const i0 = atP + s;
      const atS = atP + s;
      const size = i0 * 8;
      const atS0 = atP0 + s;
      for (let k0 = 0; k0 < 8; k0++) {
        packedA[atS0 + k0 * 4] = atS <= 4 ? maximum[size + k0] : 0;
      }
    }
  }
  for (let j = 0; j < 4; j += 4) {
    // pack columns of the right operand
    const quotient = Math.floor((-j + 1) / 2);
    const pEnd = quotient + 2;
    for (let p = 0; p < pEnd; p++) {
      const atP1 = j + p * 2;
      const atP2 = p * 16;
      for (let s = 0; s < 2; s++) {
        const i1 = atP1 + s;
        const size0 = i1 * 8;
        const atS1 = atP2 + s;
        for (let k0 = 0; k0 < 8; k0++) {
          packedB[atS1 + k0 * 2] = weight[size0 + k0];
        }
      }
    }
    const atJ = -j;
    for (let i = 0; i < 5; i += 4) {
      const jjEnd = atJ + 4;
      const atI = i * 8;
      const least = Math.min(4, -i + 5);
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
        for (let r = 0; r < least; r++) {
          const i0_0 = i + r;
          const atR = r * 2;
          const size1 = i0_0 * 4;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            add[size1 + i1_0] = tile[atR + s] + bias[i1_0];
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
    const t8 = sum4 / (sum4 === 0 ? 1 : sum1);
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
function matmul_select(packedA, packedB, weight, add, maximum, select) {
  const tile = new Float32Array(8);
  // pack the left operand
  for (let p = 0; p < 2; p++) {
    const atP = p * 4;
    const atP0 = p * 16;
    for (let s = 0; s < 4; s++) {
      const i0 = atP + s;
      const atS = atP + s;
      const size = i0 * 4;
      const atS0 = atP0 + s;
      for (let k0 = 0; k0 < 4; k0++) {
        packedA[atS0 + k0 * 4] = atS <= 4 ? add[size + k0] : 0;
      }
    }
  }
  for (let j = 0; j < 8; j += 8) {
    // pack columns of the right operand
    const quotient = Math.floor((-j + 1) / 2);
    const pEnd = quotient + 4;
    for (let p = 0; p < pEnd; p++) {
      const atP1 = j + p * 2;
      const atP2 = p * 8;
      for (let s = 0; s < 2; s++) {
        const i1 = atP1 + s;
        const atS1 = atP2 + s;
        for (let k0 = 0; k0 < 4; k0++) {
          packedB[atS1 + k0 * 2] = weight[i1 + k0 * 8];
        }
      }
    }
    const atJ = -j;
    for (let i = 0; i < 5; i += 4) {
      const jjEnd = atJ + 8;
      const atI = i * 4;
      const least = Math.min(4, -i + 5);
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
        for (let r = 0; r < least; r++) {
          const i0_0 = i + r;
          const size0 = i0_0 * 8;
          const atR = r * 2;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            select[size0 + i1_0] = 0 < maximum[size0 + i1_0] ? tile[atR + s] : 0;
          }
        }
      }
    }
  }
}

// matmul_sub
function matmul_sub(packedA, packedB, x, select, bias, weight) {
  const tile = new Float32Array(8);
  // pack the left operand
  for (let p = 0; p < 2; p++) {
    const atP = p * 4;
    const atP0 = p * 20;
    for (let s = 0; s < 4; s++) {
      let side0 = 0;
      const i0 = atP + s;
      const atS = atP0 + s;
      for (let k0 = 0; k0 < 5; k0++) {
        const selectAt = select[i0 + k0 * 8];
        packedA[atS + k0 * 4] = selectAt;
        side0 += selectAt;
      }
      bias[i0] = bias[i0] - side0 * 0.10000000149011612;
    }
  }
  for (let j = 0; j < 6; j += 6) {
    // pack columns of the right operand
    const quotient = Math.floor((-j + 1) / 2);
    const pEnd = quotient + 3;
    for (let p = 0; p < pEnd; p++) {
      const atP1 = j + p * 2;
      const atP2 = p * 10;
      for (let s = 0; s < 2; s++) {
        const i1 = atP1 + s;
        const atS0 = atP2 + s;
        for (let k0 = 0; k0 < 5; k0++) {
          packedB[atS0 + k0 * 2] = x[i1 + k0 * 6];
        }
      }
    }
    const atJ = -j;
    for (let i = 0; i < 8; i += 4) {
      const jjEnd = atJ + 6;
      const atI = i * 5;
      for (let jj = 0; jj < jjEnd; jj += 2) {
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
          const size = i0_0 * 6;
          const atR = r * 2;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            weight[size + i1_0] = weight[size + i1_0] - tile[atR + s] * 0.10000000149011612;
          }
        }
      }
    }
  }
}

// matmul_sub2
function matmul_sub2(packedA, packedB, maximum, add, bias, weight) {
  const tile = new Float32Array(8);
  // pack the left operand
  for (let p = 0; p < 1; p++) {
    for (let s = 0; s < 4; s++) {
      let side0 = 0;
      for (let k0 = 0; k0 < 5; k0++) {
        const addAt = add[s + k0 * 4];
        packedA[s + k0 * 4] = addAt;
        side0 += addAt;
      }
      bias[s] = bias[s] - side0 * 0.10000000149011612;
    }
  }
  for (let j = 0; j < 8; j += 8) {
    // pack columns of the right operand
    const quotient = Math.floor((-j + 1) / 2);
    const pEnd = quotient + 4;
    for (let p = 0; p < pEnd; p++) {
      const atP = j + p * 2;
      const atP0 = p * 10;
      for (let s = 0; s < 2; s++) {
        const i1 = atP + s;
        const atS = atP0 + s;
        for (let k0 = 0; k0 < 5; k0++) {
          packedB[atS + k0 * 2] = maximum[i1 + k0 * 8];
        }
      }
    }
    const atJ = -j;
    for (let i = 0; i < 4; i += 4) {
      const jjEnd = atJ + 8;
      const atI = i * 5;
      for (let jj = 0; jj < jjEnd; jj += 2) {
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
          const i0 = i + r;
          const size = i0 * 8;
          const atR = r * 2;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            weight[size + i1_0] = weight[size + i1_0] - tile[atR + s] * 0.10000000149011612;
          }
        }
      }
    }
  }
}
