// conv_maximum
function conv_maximum(weight, x, bias, maximum, packedA, packedB) {
  const cs = new Float32Array(6);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 3; ar++) {
      const atAr = ar * 18;
      for (let ac = 0; ac < 2; ac++) {
        const atAr0 = atAr + ac * 9;
        const atAr1 = ar + ac * 27;
        for (let at0 = 0; at0 < 3; at0++) {
          const atAt0 = atAr0 + at0 * 3;
          const atAt0_0 = atAr1 + at0 * 9;
          for (let at1 = 0; at1 < 3; at1++) {
            packedA[atAt0_0 + at1 * 3] = weight[atAt0 + at1];
          }
        }
      }
    }
  }
  for (let j = 0; j < 32; j += 32) {
    for (let bjj = 0; bjj < 16; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 36;
      for (let bs = 0; bs < 2; bs++) {
        const quotient = ((atJ + bs) / 16) | 0;
        const quotient0 = ((atJ + bs) / 4) | 0;
        const remainder = quotient0 % 4;
        const remainder0 = (atJ + bs) % 4;
        const atJ1 = quotient * 32 + remainder * 4 + remainder0;
        const atBs = atBjj + bs;
        for (let bc = 0; bc < 2; bc++) {
          const atJ2 = atJ1 + bc * 16;
          const atBs0 = atBs + bc * 18;
          for (let bt0 = 0; bt0 < 3; bt0++) {
            const atJ0 = remainder + bt0;
            const atJ3 = atJ2 + bt0 * 4;
            const atBt0 = atBs0 + bt0 * 6;
            for (let bt1 = 0; bt1 < 3; bt1++) {
              packedB[atBt0 + bt1 * 2] = atJ0 > 0 && atJ0 <= 4 && remainder0 + bt1 > 0 && remainder0 + bt1 <= 4 ? x[atJ3 + bt1 - 5] : 0;
            }
          }
        }
      }
    }
    for (let i = 0; i < 3; i += 3) {
      const atI = i * 18;
      for (let jj = 0; jj < 32; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        let c20 = 0;
        let c21 = 0;
        const atJj = jj * 18;
        for (let k = 0; k < 18; k++) {
          const a0 = packedA[atI + k * 3];
          const a1 = packedA[atI + k * 3 + 1];
          const a2 = packedA[atI + k * 3 + 2];
          const b0 = packedB[atJj + k * 2];
          const b1 = packedB[atJj + k * 2 + 1];
          c00 += a0 * b0;
          c01 += a0 * b1;
          c10 += a1 * b0;
          c11 += a1 * b1;
          c20 += a2 * b0;
          c21 += a2 * b1;
        }
        cs[0] = c00;
        cs[1] = c01;
        cs[2] = c10;
        cs[3] = c11;
        cs[4] = c20;
        cs[5] = c21;
        const atJj0 = j + jj;
        for (let s = 0; s < 2; s++) {
          const quotient1 = ((atJj0 + s) / 16) | 0;
          const quotient2 = ((atJj0 + s) / 4) | 0;
          const remainder1 = quotient2 % 4;
          const remainder2 = (atJj0 + s) % 4;
          const atS = quotient1 * 48 + remainder1 * 4 + remainder2;
          for (let r = 0; r < 3; r++) {
            const f = i + r;
            maximum[atS + f * 16] = Math.max(cs[s + r * 2] + bias[f], 0);
          }
        }
      }
    }
  }
}

// matmul_reciprocal
function matmul_reciprocal(classes, convert, reciprocal, packedA, packedB) {
  const cs = new Int32Array(1);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 1; ar++) {
      for (let ak0 = 0; ak0 < 2; ak0++) {
        packedA[ak0] = classes[ak0] !== -100 ? 1 : 0;
      }
    }
  }
  for (let j = 0; j < 1; j++) {
    for (let bjj = 0; bjj < 1; bjj++) {
      for (let bs = 0; bs < 1; bs++) {
        for (let bk0 = 0; bk0 < 2; bk0++) {
          packedB[bk0] = classes[bk0] !== -100 ? 1 : 0;
        }
      }
    }
    for (let i = 0; i < 1; i++) {
      for (let jj = 0; jj < 1; jj++) {
        let c00 = 0;
        for (let k = 0; k < 2; k++) {
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

// reduceMax_equal
function reduceMax_equal(maximum, equal, reduceMax) {
  for (let i2 = 0; i2 < 12; i2++) {
    const atI2 = i2 * 8;
    const atI2_0 = i2 * 2;
    for (let i3 = 0; i3 < 2; i3++) {
      let max0 = -Infinity;
      let argMax1 = 0;
      let argMax1Best = -Infinity;
      const atI3 = atI2 + i3 * 2;
      const maximumAt = maximum[atI3];
      max0 = Math.max(max0, maximumAt);
      if (maximumAt > argMax1Best || (maximumAt !== maximumAt && argMax1Best === argMax1Best)) {
        argMax1Best = maximumAt;
        argMax1 = 0;
      }
      const maximumAt0 = maximum[atI3 + 1];
      max0 = Math.max(max0, maximumAt0);
      if (maximumAt0 > argMax1Best || (maximumAt0 !== maximumAt0 && argMax1Best === argMax1Best)) {
        argMax1Best = maximumAt0;
        argMax1 = 1;
      }
      const maximumAt1 = maximum[atI3 + 4];
      max0 = Math.max(max0, maximumAt1);
      if (maximumAt1 > argMax1Best || (maximumAt1 !== maximumAt1 && argMax1Best === argMax1Best)) {
        argMax1Best = maximumAt1;
        argMax1 = 2;
      }
      const maximumAt2 = maximum[atI3 + 5];
      max0 = Math.max(max0, maximumAt2);
      if (maximumAt2 > argMax1Best || (maximumAt2 !== maximumAt2 && argMax1Best === argMax1Best)) {
        argMax1Best = maximumAt2;
        argMax1 = 3;
      }
      const atI3_0 = atI2 + i3 * 4;
      equal[atI3_0] = 0 === argMax1 ? 1 : 0;
      equal[atI3_0 + 1] = 1 === argMax1 ? 1 : 0;
      equal[atI3_0 + 2] = 2 === argMax1 ? 1 : 0;
      equal[atI3_0 + 3] = 3 === argMax1 ? 1 : 0;
      reduceMax[atI2_0 + i3] = max0;
    }
  }
}

// matmul_add
function matmul_add(reduceMax, weight, bias, add, packedA, packedB) {
  const cs = new Float32Array(4);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 2; ar++) {
      const atAr = ar * 12;
      for (let ak0 = 0; ak0 < 12; ak0++) {
        packedA[ar + ak0 * 2] = reduceMax[atAr + ak0];
      }
    }
  }
  for (let j = 0; j < 4; j += 4) {
    for (let bjj = 0; bjj < 2; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 24;
      for (let bs = 0; bs < 2; bs++) {
        const i1 = atJ + bs;
        const size = i1 * 12;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 12; bk0++) {
          packedB[atBs + bk0 * 2] = weight[size + bk0];
        }
      }
    }
    for (let i = 0; i < 2; i += 2) {
      const atI = i * 12;
      for (let jj = 0; jj < 4; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        const atJj = jj * 12;
        for (let k = 0; k < 12; k++) {
          const a0 = packedA[atI + k * 2];
          const a1 = packedA[atI + k * 2 + 1];
          const b0 = packedB[atJj + k * 2];
          const b1 = packedB[atJj + k * 2 + 1];
          c00 += a0 * b0;
          c01 += a0 * b1;
          c10 += a1 * b0;
          c11 += a1 * b1;
        }
        cs[0] = c00;
        cs[1] = c01;
        cs[2] = c10;
        cs[3] = c11;
        const atJj0 = j + jj;
        for (let r = 0; r < 2; r++) {
          const i0 = i + r;
          const atR = r * 2;
          const size0 = i0 * 4;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            add[size0 + i1_0] = cs[atR + s] + bias[i1_0];
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
  for (let i0 = 0; i0 < 2; i0++) {
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

// matmul
function matmul(add, weight, dotGeneral, packedA, packedB) {
  const cs = new Float32Array(4);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 2; ar++) {
      const atAr = ar * 4;
      for (let ak0 = 0; ak0 < 4; ak0++) {
        packedA[ar + ak0 * 2] = add[atAr + ak0];
      }
    }
  }
  for (let j = 0; j < 12; j += 12) {
    for (let bjj = 0; bjj < 6; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 8;
      for (let bs = 0; bs < 2; bs++) {
        const i1 = atJ + bs;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 4; bk0++) {
          packedB[atBs + bk0 * 2] = weight[i1 + bk0 * 12];
        }
      }
    }
    for (let i = 0; i < 2; i += 2) {
      const atI = i * 4;
      for (let jj = 0; jj < 12; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        const atJj = jj * 4;
        for (let k = 0; k < 4; k++) {
          const a0 = packedA[atI + k * 2];
          const a1 = packedA[atI + k * 2 + 1];
          const b0 = packedB[atJj + k * 2];
          const b1 = packedB[atJj + k * 2 + 1];
          c00 += a0 * b0;
          c01 += a0 * b1;
          c10 += a1 * b0;
          c11 += a1 * b1;
        }
        cs[0] = c00;
        cs[1] = c01;
        cs[2] = c10;
        cs[3] = c11;
        const atJj0 = j + jj;
        for (let r = 0; r < 2; r++) {
          const i0 = i + r;
          const atR = r * 2;
          const size = i0 * 12;
          for (let s = 0; s < 2; s++) {
            const i1_0 = atJj0 + s;
            dotGeneral[size + i1_0] = cs[atR + s];
          }
        }
      }
    }
  }
}

// fold_select
function fold_select(equal, dotGeneral, maximum, select) {
  for (let i1 = 0; i1 < 6; i1++) {
    const atI1 = i1 * 16;
    const atI1_2 = i1 * 4;
    for (let i2 = 0; i2 < 4; i2++) {
      const i2Mod2 = i2 % 2;
      const i2Div2 = (i2 / 2) | 0;
      const atI1_0 = atI1 + i2Div2 * 8;
      const atI1_3 = atI1_2 + i2Div2 * 2;
      const remainder0 = (i2 + 1) % 2;
      const quotient0 = ((i2 + 1) / 2) | 0;
      const atI1_7 = atI1 + quotient0 * 8;
      const atI1_9 = atI1_2 + quotient0 * 2;
      const atI2 = atI1 + i2 * 4;
      for (let i3 = 0; i3 < 4; i3++) {
        let sum0 = 0;
        const i3Mod2 = i3 % 2;
        const i3Div2 = (i3 / 2) | 0;
        const atI1_1 = atI1_0 + i3Div2 * 4;
        const atI1_4 = atI1_3 + i3Div2;
        sum0 += i2 <= 2 && i2Mod2 === 0 && i3 <= 2 && i3Mod2 === 0 ? ((i2 <= 2 && i2Mod2 === 0 && i3 <= 2 && i3Mod2 === 0 ? equal[atI1_1] !== 0 : false) ? (i2 <= 2 && i2Mod2 === 0 && i3 <= 2 && i3Mod2 === 0 ? dotGeneral[atI1_4] : 0) : 0) : 0;
        const remainder = (i3 + 1) % 2;
        const quotient = ((i3 + 1) / 2) | 0;
        const atI1_5 = atI1_0 + quotient * 4;
        const atI1_6 = atI1_3 + quotient;
        sum0 += i2 <= 2 && i2Mod2 === 0 && i3 > 0 && remainder === 0 ? ((i2 <= 2 && i2Mod2 === 0 && i3 > 0 && remainder === 0 ? equal[atI1_5 - 3] !== 0 : false) ? (i2 <= 2 && i2Mod2 === 0 && i3 > 0 && remainder === 0 ? dotGeneral[atI1_6 - 1] : 0) : 0) : 0;
        const atI1_8 = atI1_7 + i3Div2 * 4;
        const atI1_10 = atI1_9 + i3Div2;
        sum0 += i2 > 0 && remainder0 === 0 && i3 <= 2 && i3Mod2 === 0 ? ((i2 > 0 && remainder0 === 0 && i3 <= 2 && i3Mod2 === 0 ? equal[atI1_8 - 6] !== 0 : false) ? (i2 > 0 && remainder0 === 0 && i3 <= 2 && i3Mod2 === 0 ? dotGeneral[atI1_10 - 2] : 0) : 0) : 0;
        const atI1_11 = atI1_7 + quotient * 4;
        const atI1_12 = atI1_9 + quotient;
        sum0 += i2 > 0 && remainder0 === 0 && i3 > 0 && remainder === 0 ? ((i2 > 0 && remainder0 === 0 && i3 > 0 && remainder === 0 ? equal[atI1_11 - 9] !== 0 : false) ? (i2 > 0 && remainder0 === 0 && i3 > 0 && remainder === 0 ? dotGeneral[atI1_12 - 3] : 0) : 0) : 0;
        select[atI2 + i3] = 0 < maximum[atI2 + i3] ? sum0 : 0;
      }
    }
  }
}

// conv_sub
function conv_sub(select, x, weight, bias, packedA, packedB) {
  for (let i1 = 0; i1 < 3; i1++) {
    let sum0 = 0;
    const atI1 = i1 * 16;
    for (let r0 = 0; r0 < 2; r0++) {
      const atR0 = atI1 + r0 * 48;
      for (let r3 = 0; r3 < 16; r3++) {
        sum0 += select[atR0 + r3];
      }
    }
    bias[i1] = bias[i1] - sum0 * 0.10000000149011612;
  }
  const cs = new Float32Array(6);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 3; ar++) {
      const atAr = ar * 16;
      for (let ac = 0; ac < 2; ac++) {
        const atAr0 = atAr + ac * 48;
        const atAr1 = ar + ac * 48;
        for (let at0 = 0; at0 < 4; at0++) {
          const atAt0 = atAr0 + at0 * 4;
          const atAt0_0 = atAr1 + at0 * 12;
          for (let at1 = 0; at1 < 4; at1++) {
            packedA[atAt0_0 + at1 * 3] = select[atAt0 + at1];
          }
        }
      }
    }
  }
  for (let j = 0; j < 18; j += 18) {
    for (let bjj = 0; bjj < 9; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 64;
      for (let bs = 0; bs < 2; bs++) {
        const quotient = ((atJ + bs) / 9) | 0;
        const quotient0 = ((atJ + bs) / 3) | 0;
        const remainder = quotient0 % 3;
        const remainder0 = (atJ + bs) % 3;
        const atJ1 = quotient * 16 + remainder * 4 + remainder0;
        const atBs = atBjj + bs;
        for (let bc = 0; bc < 2; bc++) {
          const atJ2 = atJ1 + bc * 32;
          const atBs0 = atBs + bc * 32;
          for (let bt0 = 0; bt0 < 4; bt0++) {
            const atJ0 = remainder + bt0;
            const atJ3 = atJ2 + bt0 * 4;
            const atBt0 = atBs0 + bt0 * 8;
            for (let bt1 = 0; bt1 < 4; bt1++) {
              packedB[atBt0 + bt1 * 2] = atJ0 > 0 && atJ0 <= 4 && remainder0 + bt1 > 0 && remainder0 + bt1 <= 4 ? x[atJ3 + bt1 - 5] : 0;
            }
          }
        }
      }
    }
    for (let i = 0; i < 3; i += 3) {
      const atI = i * 32;
      for (let jj = 0; jj < 18; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        let c20 = 0;
        let c21 = 0;
        const atJj = jj * 32;
        for (let k = 0; k < 32; k++) {
          const a0 = packedA[atI + k * 3];
          const a1 = packedA[atI + k * 3 + 1];
          const a2 = packedA[atI + k * 3 + 2];
          const b0 = packedB[atJj + k * 2];
          const b1 = packedB[atJj + k * 2 + 1];
          c00 += a0 * b0;
          c01 += a0 * b1;
          c10 += a1 * b0;
          c11 += a1 * b1;
          c20 += a2 * b0;
          c21 += a2 * b1;
        }
        cs[0] = c00;
        cs[1] = c01;
        cs[2] = c10;
        cs[3] = c11;
        cs[4] = c20;
        cs[5] = c21;
        const atJj0 = j + jj;
        for (let s = 0; s < 2; s++) {
          const quotient1 = ((atJj0 + s) / 9) | 0;
          const quotient2 = ((atJj0 + s) / 3) | 0;
          const remainder1 = quotient2 % 3;
          const remainder2 = (atJj0 + s) % 3;
          const atS = atJj0 + s;
          for (let r = 0; r < 3; r++) {
            const f = i + r;
            weight[atS + f * 18] = weight[atS + f * 18] - cs[s + r * 2] * 0.10000000149011612;
          }
        }
      }
    }
  }
}

// matmul_sub
function matmul_sub(add, reduceMax, weight, bias, packedA, packedB) {
  for (let i1 = 0; i1 < 4; i1++) {
    let sum0 = 0;
    sum0 += add[i1];
    sum0 += add[i1 + 4];
    bias[i1] = bias[i1] - Math.fround(sum0) * 0.10000000149011612;
  }
  const cs = new Float32Array(8);
  for (let ai = 0; ai < 1; ai++) {
    for (let ar = 0; ar < 4; ar++) {
      for (let ak0 = 0; ak0 < 2; ak0++) {
        packedA[ar + ak0 * 4] = add[ar + ak0 * 4];
      }
    }
  }
  for (let j = 0; j < 12; j += 12) {
    for (let bjj = 0; bjj < 6; bjj++) {
      const atJ = j + bjj * 2;
      const atBjj = bjj * 4;
      for (let bs = 0; bs < 2; bs++) {
        const i1_0 = atJ + bs;
        const atBs = atBjj + bs;
        for (let bk0 = 0; bk0 < 2; bk0++) {
          packedB[atBs + bk0 * 2] = reduceMax[i1_0 + bk0 * 12];
        }
      }
    }
    for (let i = 0; i < 4; i += 4) {
      const atI = i * 2;
      for (let jj = 0; jj < 12; jj += 2) {
        let c00 = 0;
        let c01 = 0;
        let c10 = 0;
        let c11 = 0;
        let c20 = 0;
        let c21 = 0;
        let c30 = 0;
        let c31 = 0;
        const atJj = jj * 2;
        for (let k = 0; k < 2; k++) {
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
          const size = i0 * 12;
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
