function transposeTile(x, out, N, M) {
  const tile = new Float32Array(64);
  const NDiv8 = (N / 8) | 0;
  const MDiv8 = (M / 8) | 0;
  for (let ti = 0; ti < NDiv8; ti++) {
    const atTi = ti * M * 8;
    const atTi0 = ti * 8;
    for (let tj = 0; tj < MDiv8; tj++) {
      const atTj = atTi + tj * 8;
      for (let p = 0; p < 64; p++) {
        const pDiv8 = (p / 8) | 0;
        const pMod8 = p % 8;
        tile[p] = x[atTj + pDiv8 * M + pMod8];
      }
      const atTi1 = atTi0 + tj * N * 8;
      for (let q = 0; q < 64; q++) {
        const qDiv8 = (q / 8) | 0;
        const qMod8 = q % 8;
        out[atTi1 + qDiv8 * N + qMod8] = tile[qDiv8 + qMod8 * 8];
      }
    }
  }
}
