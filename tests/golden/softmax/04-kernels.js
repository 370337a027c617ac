// reduceMax_mul
function reduceMax_mul(x, mul) {
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
  const kept0 = new Float64Array(10);
  for (let i0 = 0; i0 < 4; i0++) {
    let max0 = -Infinity;
    const atI0 = i0 * 10;
    for (let r1 = 0; r1 < 10; r1++) {
      max0 = Math.max(max0, x[atI0 + r1]);
    }
    let sum1 = 0;
    for (let r1 = 0; r1 < 10; r1++) {
      const t = fastExp(x[atI0 + r1] - max0);
      sum1 += t;
      kept0[r1] = t;
    }
    const t0 = 1 / sum1;
    for (let r1 = 0; r1 < 10; r1++) {
      mul[atI0 + r1] = kept0[r1] * t0;
    }
  }
}
