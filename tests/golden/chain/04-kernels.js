// mul
function mul(x, mul) {
  for (let i0 = 0; i0 < 16; i0++) {
    const xAt = x[i0];
    const t = Math.exp(-xAt) + xAt;
    mul[i0] = t * t;
  }
}
