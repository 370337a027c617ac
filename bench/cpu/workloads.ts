/**
 * The work of the CPU table: what each row computes on, and the time it is to take. Operands are
 * described, not stored, so that a peer in another language makes the same numbers. The arithmetic
 * itself is written by each adapter.
 */

/** Values even within ±scale; with `classes`, whole numbers from 0 to classes − 1 instead. */
export interface Operand {
  readonly seed: number;
  readonly shape: readonly number[];
  readonly scale: number;
  readonly classes?: number;
}

export interface Workload {
  readonly name: string;
  readonly title: string;
  /** Milliseconds of wasm on one thread with relaxed SIMD. None: the row is for information and counts nowhere. */
  readonly goalMs?: number;
  /** Times as fast as the best native peer that native code is to be; 1 where absent. */
  readonly ofNative?: number;
  readonly operands: Readonly<Record<string, Operand>>;
  /** Changes its parameters at each run, so that results of later runs depend on earlier ones. */
  readonly trains?: boolean;
}

const of = (seed: number, shape: readonly number[], scale = 1): Operand => ({ seed, shape, scale });
const labels = (seed: number, count: number): Operand => ({ ...of(seed, [count]), classes: 10 });
/** Scale of a weight whose outputs sum `fan` products. */
const fanIn = (fan: number): number => 1 / Math.sqrt(fan);

const chain = (size: number) => ({ a: of(1, [size], 2), b: of(2, [size]), c: of(3, [size]) });

const row = of(4, [4096, 1024], 3);

const mlp = {
  x: of(10, [256, 784]),
  w1: of(12, [784, 512], fanIn(784)),
  b1: of(13, [512], 0.05),
  w2: of(14, [512, 512], fanIn(512)),
  b2: of(15, [512], 0.05),
  w3: of(16, [512, 10], fanIn(512)),
  b3: of(17, [10], 0.05),
};

const matmul = (n: number) => ({ a: of(20, [n, n]), b: of(21, [n, n]) });

const cnn = {
  x: of(30, [64, 1, 28, 28]),
  y: labels(31, 64),
  k1: of(32, [32, 1, 3, 3], fanIn(9)),
  c1: of(33, [32], 0.05),
  k2: of(34, [64, 32, 3, 3], fanIn(288)),
  c2: of(35, [64], 0.05),
  w3: of(36, [9216, 128], fanIn(9216)),
  b3: of(37, [128], 0.05),
  w4: of(38, [128, 10], fanIn(128)),
  b4: of(39, [10], 0.05),
};

const transformer = {
  x: of(40, [8, 128, 256]),
  g1: of(42, [256]),
  n1: of(43, [256], 0.1),
  wqkv: of(44, [256, 768], fanIn(256)),
  bqkv: of(45, [768], 0.05),
  wo: of(46, [256, 256], fanIn(256)),
  bo: of(47, [256], 0.05),
  g2: of(48, [256]),
  n2: of(49, [256], 0.1),
  wf: of(50, [256, 1024], fanIn(256)),
  bf: of(51, [1024], 0.05),
  wp: of(52, [1024, 256], fanIn(1024)),
  bp: of(53, [256], 0.05),
};

const image = of(60, [1, 64, 56, 56]);
const lstm = {
  x: of(70, [64, 32, 256]),
  wx: of(71, [256, 1024], fanIn(256)),
  wh: of(72, [256, 1024], fanIn(256)),
  b: of(73, [1024], 0.05),
};
const square = { x: of(80, [4096, 4096]) };

// biome-ignore format: one row of the table a line
export const workloads: readonly Workload[] = [
  { name: "chain4m", title: "chain 4M", goalMs: 16, ofNative: 2, operands: chain(1 << 22) },
  { name: "chain16k", title: "chain 16k", goalMs: 0.08, ofNative: 2, operands: chain(1 << 14) },
  { name: "softmax", title: "softmax 4096×1024", goalMs: 5, ofNative: 2, operands: { x: row } },
  { name: "layernorm", title: "layerNorm 4096×1024", goalMs: 4.5, ofNative: 2, operands: { x: row, g: of(5, [1024]), b: of(6, [1024]) } },
  { name: "mlp_fwd", title: "MLP forward, batch 256", goalMs: 10, operands: mlp },
  { name: "mlp_train", title: "MLP step, Adam", goalMs: 34, operands: { ...mlp, y: labels(11, 256) }, trains: true },
  { name: "matmul512", title: "matmul 512", goalMs: 8, ofNative: 0.95, operands: matmul(512) },
  { name: "matmul1024", title: "matmul 1024", goalMs: 62, ofNative: 0.95, operands: matmul(1024) },
  { name: "matmul2048", title: "matmul 2048", goalMs: 500, ofNative: 0.95, operands: matmul(2048) },
  { name: "conv_train", title: "CNN step, batch 64, Adam", goalMs: 260, operands: cnn, trains: true },
  { name: "tf_fwd", title: "transformer block forward", goalMs: 55, operands: transformer },
  { name: "tf_train", title: "transformer block step, SGD", goalMs: 150, operands: { ...transformer, t: of(41, [8, 128, 256]) }, trains: true },
  { name: "conv2d", title: "conv 3×3, 64×56×56 → 64", goalMs: 7.5, operands: { x: image, w: of(61, [64, 64, 3, 3], fanIn(576)) } },
  { name: "dwconv", title: "depthwise 3×3", goalMs: 0.3, operands: { x: image, w: of(62, [64, 1, 3, 3], 0.33) } },
  { name: "lstm", title: "LSTM forward, 64×32×256", goalMs: 50, operands: lstm },
  { name: "sum0", title: "sum axis 0, 4096²", goalMs: 4.5, ofNative: 2, operands: square },
  { name: "sum1", title: "sum axis 1, 4096²", goalMs: 3.5, ofNative: 2, operands: square },
  { name: "cumsum", title: "cumsum axis 1, 4096²", goalMs: 25, ofNative: 2, operands: square },
  { name: "argmax", title: "argmax axis 1, 4096²", goalMs: 7, ofNative: 2, operands: square },
  { name: "transpose", title: "transpose 4096²", goalMs: 70, ofNative: 2, operands: square },
  { name: "chain64", title: "chain 64", operands: chain(64) },
];

/** The element at `i` of stream `seed`, even within [−1, 1): a 32-bit finaliser of i·φ + seed·odd. */
function hashed(i: number, seed: number): number {
  let h = (Math.imul(i, 0x9e3779b1) + Math.imul(seed, 0x85ebca6b)) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  h ^= h >>> 16;
  return ((h >>> 0) / 2 ** 32) * 2 - 1;
}

export const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

export function floats({ seed, shape, scale }: Operand): Float32Array {
  const values = new Float32Array(sizeOf(shape));
  for (let i = 0; i < values.length; i++) values[i] = hashed(i, seed) * scale;
  return values;
}

/** Classes are made from the rounded value, as a peer with f32 storage would make them. */
export function classes(operand: Operand): Int32Array {
  const count = operand.classes ?? 10;
  const values = floats(operand);
  return Int32Array.from(values, (v) => Math.min(count - 1, Math.floor(((v + 1) / 2) * count)));
}

export function oneHot(operand: Operand): Float32Array {
  const count = operand.classes ?? 10;
  const hot = new Float32Array(sizeOf(operand.shape) * count);
  for (const [i, label] of classes(operand).entries()) hot[i * count + label] = 1;
  return hot;
}

export function workloadNamed(name: string): Workload {
  const found = workloads.find((w) => w.name === name);
  if (!found) throw new RangeError(`bench: no workload ${name}`);
  return found;
}

/** Row-major values of `shape` with their axes reordered: axis i of the result is axis perm[i]. */
export function permuted(
  values: Float32Array,
  shape: readonly number[],
  perm: readonly number[],
): Float32Array {
  const strides = shape.map((_, axis) => sizeOf(shape.slice(axis + 1)));
  const out = new Float32Array(values.length);
  const extents = perm.map((axis) => shape[axis]!);
  const steps = perm.map((axis) => strides[axis]!);
  for (let i = 0; i < out.length; i++) {
    let rest = i;
    let from = 0;
    for (let axis = extents.length - 1; axis >= 0; axis--) {
      from += (rest % extents[axis]!) * steps[axis]!;
      rest = Math.floor(rest / extents[axis]!);
    }
    out[i] = values[from]!;
  }
  return out;
}
