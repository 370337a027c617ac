function mapPad(x, b, out, N) {
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
  function fastTanh(x) {
    const s = x * x;
    if (s < 0.0004) return x * (1 + s * (s * 0.13333333333333333 - 0.3333333333333333));
    return 1 - 2 / (fastExp(2 * x) + 1);
  }
  for (let i = 0; i < N; i++) {
    const atI = i * 5;
    const bAt = b[i];
    const atI0 = i * 6;
    for (let j = 0; j < 6; j++) {
      const t = (j > 0 ? x[atI + j - 1] : 0) + bAt;
      out[atI0 + j] = fastTanh(t) * t;
    }
  }
}
