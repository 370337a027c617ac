/**
 * Two spirals of points around each other: x is f32[count, 2], which spiral each point is on
 * i32[count].
 */
export function spirals(count: number) {
  const x = new Float32Array(2 * count);
  const arm = Int32Array.from({ length: count }, (_, i) => i % 2);
  for (let i = 0; i < count; i++) {
    const r = 0.1 + 0.9 * Math.random();
    const angle = 5 * r + Math.PI * arm[i]!;
    x[2 * i] = r * Math.cos(angle) + 0.02 * (Math.random() - 0.5);
    x[2 * i + 1] = r * Math.sin(angle) + 0.02 * (Math.random() - 0.5);
  }
  return { x: { data: x, shape: [count, 2] }, arm };
}
