// mul
function mul(x, row, column, mul) {
  for (let i0 = 0; i0 < 3; i0++) {
    const atI0 = i0 * 5;
    const columnAt = column[i0];
    for (let i1 = 0; i1 < 5; i1++) {
      mul[atI0 + i1] = (x[atI0 + i1] + row[i1]) * columnAt;
    }
  }
}
