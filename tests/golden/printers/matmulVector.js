function matmulVector(a, w, out, N) {
  for (let i = 0; i < N; i++) {
    const atI = i * 6;
    const atI0 = i * 8;
    for (let c = 0; c < 2; c++) {
      let s = 0;
      const atC = c * 4;
      for (let k = 0; k < 6; k++) {
        s += a[atI + k] * w[atC + k * 8];
      }
      const atI1 = atI0 + c * 4;
      out[atI1] = s;
      let s0 = 0;
      for (let k = 0; k < 6; k++) {
        s0 += a[atI + k] * w[atC + k * 8 + 1];
      }
      out[atI1 + 1] = s0;
      let s1 = 0;
      for (let k = 0; k < 6; k++) {
        s1 += a[atI + k] * w[atC + k * 8 + 2];
      }
      out[atI1 + 2] = s1;
      let s2 = 0;
      for (let k = 0; k < 6; k++) {
        s2 += a[atI + k] * w[atC + k * 8 + 3];
      }
      out[atI1 + 3] = s2;
    }
  }
}
