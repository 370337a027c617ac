function softmax(x, out, N) {
  for (let row = 0; row < N; row++) {
    let m = -Infinity;
    const atRow = row * 7;
    for (let j = 0; j < 7; j++) {
      m = Math.max(m, x[atRow + j]);
    }
    let s = 0;
    for (let k = 0; k < 7; k++) {
      s += Math.exp(x[atRow + k] - m);
    }
    for (let l = 0; l < 7; l++) {
      out[atRow + l] = Math.exp(x[atRow + l] - m) / s;
    }
  }
}
