function softmax(x, out, N) {
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
  for (let row = 0; row < N; row++) {
    let m = -Infinity;
    const atRow = row * 7;
    for (let j = 0; j < 7; j++) {
      m = Math.max(m, x[atRow + j]);
    }
    let s = 0;
    for (let k = 0; k < 7; k++) {
      s += fastExp(x[atRow + k] - m);
    }
    for (let l = 0; l < 7; l++) {
      out[atRow + l] = fastExp(x[atRow + l] - m) / s;
    }
  }
}
