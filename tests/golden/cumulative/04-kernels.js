// cumsum_mul
function cumsum_mul(x, mul) {
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
  for (let i0 = 0; i0 < 4; i0++) {
    let sum0 = 0;
    const atI0 = i0 * 16;
    for (let r1 = 0; r1 < 16; r1++) {
      sum0 += fastExp(x[atI0 + r1]);
      mul[atI0 + r1] = sum0 * 0.5;
    }
  }
}

// cumsum
function cumsum(y_, cumsum) {
  const sum0s = new Float64Array(32);
  for (let i0 = 0; i0 < 3; i0++) {
    const atI0 = i0 * 960;
    for (let block = 0; block < 40; block += 32) {
      const least = Math.min(32, -block + 40);
      for (let c = 0; c < least; c++) {
        sum0s[c] = 0;
      }
      const atI0_0 = atI0 + block;
      for (let r1 = 0; r1 < 24; r1++) {
        const atR1 = atI0_0 - r1 * 40;
        for (let c = 0; c < least; c++) {
          const sum0Next = y_[atR1 + c + 920];
          let sum0 = sum0s[c];
          cumsum[atR1 + c + 920] = Math.fround(sum0);
          sum0 += Math.fround(sum0Next);
          sum0s[c] = sum0;
        }
      }
    }
  }
}
