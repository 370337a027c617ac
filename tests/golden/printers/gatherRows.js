function gatherRows(index, table, out, N) {
  for (let i = 0; i < N; i++) {
    const row = Math.min(Math.max(index[i], 0), 9);
    const atRow = row * 4;
    const atI = i * 4;
    for (let j = 0; j < 4; j++) {
      out[atI + j] = table[atRow + j];
    }
  }
}
