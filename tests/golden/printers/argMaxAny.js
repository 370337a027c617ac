function argMaxAny(x, out, N) {
  let place = 0;
  let placeBest = -Infinity;
  let negative = false;
  for (let i = 0; i < N; i++) {
    const xAt = x[i];
    if (xAt > placeBest || (xAt !== xAt && placeBest === placeBest)) {
      placeBest = xAt;
      place = i;
    }
    negative = negative || xAt < 0;
  }
  out[0] = place;
  out[1] = negative ? 1 : 0;
}
