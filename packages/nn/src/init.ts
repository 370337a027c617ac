/**
 * Initialisers: first values of parameters, drawn on the host so that they are the same on every
 * device. The default ones draw from a key that `seed` sets and every draw advances. Fans are taken
 * as PyTorch takes them: axis 0 counts outputs, axis 1 inputs, the other axes are the receptive
 * field.
 */
import { checkOptions, GraphError, kindOf, type OptionNames, ShapeError } from "@kiln-ml/ir";
import { Generator } from "./generator.ts";
import { madeBy } from "./recipes.ts";

/** First values for a parameter of this shape, row-major. */
export type Initializer = (shape: readonly number[]) => Float32Array;

let generator = new Generator(0);

/**
 * Sets where the default initialisers draw from, and the keys of dropout layers made afterwards.
 * `torch.manual_seed`.
 *
 * @param n An integer from 0.
 * @example
 *   nn.seed(7);
 *   const first = new nn.Linear(2, 1);
 *   nn.seed(7);
 *   new nn.Linear(2, 1).weight.equal(first.weight).all() // true
 */
export function seed(n: number): void {
  if (!Number.isSafeInteger(n) || n < 0)
    throw new ShapeError(
      `seed: ${kindOf(n)} is not an integer of 0 or more\n  give an integer, such as 0`,
    );
  generator = new Generator(n);
}

/** A fresh key for a layer with random state of its own. */
export const drawKey = (): [number, number] => generator.pair();

/** The elements of a shape of numbers. Throws ShapeError for any other. */
function sizeOf(shape: readonly number[]): number {
  if (!Array.isArray(shape) || !shape.every((d) => Number.isSafeInteger(d) && d >= 0))
    throw new ShapeError(
      `init: the shape must be a list of whole numbers of 0 or more, got ${Array.isArray(shape) ? `[${shape.map(kindOf)}]` : kindOf(shape)}\n  pass the shape of the weight, as [out, in]`,
    );
  return shape.reduce((a, b) => a * b, 1);
}

let skipped = false;

/**
 * What `make` gives, with 0 for all first values that would be drawn: for models whose weights are
 * loaded afterwards, of which large ones take seconds to draw. `torch.nn.utils.skip_init`.
 * @example
 *   const net = nn.skipInit(() => new nn.Linear(2, 1)); // for weights that are loaded
 *   net.weight // [[0, 0]]
 */
export function skipInit<T>(make: () => T): T {
  if (typeof make !== "function")
    throw new GraphError(
      `skipInit: takes a function that makes a model, got ${kindOf(make)}\n  nn.skipInit(() => new Net())`,
    );
  const before = skipped;
  skipped = true;
  try {
    return make();
  } finally {
    skipped = before;
  }
}

/** Sets the draws aside: what it returns brings them back where they were. */
export function setDrawsAside(): () => void {
  const before = generator;
  generator = new Generator(0);
  return () => {
    generator = before;
  };
}

function fill(shape: readonly number[], draw: () => number): Float32Array {
  const out = new Float32Array(sizeOf(shape));
  if (skipped) return out;
  for (let i = 0; i < out.length; i++) out[i] = draw();
  return out;
}

/** Inputs and outputs that meet in one element: [fan in, fan out]. */
export function fansOf(shape: readonly number[]): [number, number] {
  sizeOf(shape);
  const [outputs, inputs, ...field] = shape;
  if (outputs === undefined || inputs === undefined)
    throw new ShapeError(`init: a fan needs rank 2 or more, shape is [${shape.join(",")}]`);
  return [inputs * sizeOf(field), outputs * sizeOf(field)];
}

export const constant = (value: number): Initializer =>
  madeBy("constant", [value], (shape) => new Float32Array(sizeOf(shape)).fill(value));

/** All 0. */
export const zeros = (): Initializer => constant(0);

/** All 1. */
export const ones = (): Initializer => constant(1);

/** Even over [low, high). */
export const uniform = (low = 0, high = 1): Initializer =>
  madeBy("uniform", [low, high], (shape) =>
    fill(shape, () => low + (high - low) * generator.uniform()),
  );

/** Gaussian. */
export const normal = (mean = 0, std = 1): Initializer =>
  madeBy("normal", [mean, std], (shape) => fill(shape, () => mean + std * generator.normal()));

/** Gaussian, drawn again outside ±2 standard deviations. */
export const truncatedNormal = (mean = 0, std = 1): Initializer =>
  madeBy("truncatedNormal", [mean, std], (shape) =>
    fill(shape, () => {
      for (;;) {
        const z = generator.normal();
        if (Math.abs(z) <= 2) return mean + std * z;
      }
    }),
  );

const leakyGain = (a: number): number => Math.sqrt(2 / (1 + a * a));

/**
 * Which fan keeps its variance: that of inputs on the way forwards, that of outputs on the way
 * back.
 */
export interface FanOptions {
  /** "fanIn" by default. */
  readonly mode?: "fanIn" | "fanOut";
}

const fanOptions: OptionNames<FanOptions> = { mode: 1 };

function fanOf(shape: readonly number[], { mode = "fanIn" }: FanOptions): number {
  return Math.max(1, fansOf(shape)[mode === "fanIn" ? 0 : 1]);
}

function checkFan(op: string, options: FanOptions): FanOptions {
  const { mode = "fanIn" } = checkOptions(op, options, fanOptions);
  if (mode !== "fanIn" && mode !== "fanOut")
    throw new GraphError(`${op}: mode must be fanIn or fanOut, got ${String(mode)}`);
  return options;
}

/**
 * Even within ±gain·√(3 / fan), gain = √(2 / (1 + a²)). He et al. 2015, with the leaky slope `a`.
 */
export const kaimingUniform = (a = 0, options: FanOptions = {}): Initializer => {
  checkFan("kaimingUniform", options);
  return madeBy("kaimingUniform", [a, options], (shape) => {
    const bound = leakyGain(a) * Math.sqrt(3 / fanOf(shape, options));
    return uniform(-bound, bound)(shape);
  });
};

/** Gaussian of deviation gain / √fan. He et al. 2015. */
export const kaimingNormal = (a = 0, options: FanOptions = {}): Initializer => {
  checkFan("kaimingNormal", options);
  return madeBy("kaimingNormal", [a, options], (shape) =>
    normal(0, leakyGain(a) / Math.sqrt(fanOf(shape, options)))(shape),
  );
};

/** Even within ±gain·√(6 / (fan in + fan out)). Glorot & Bengio 2010, eq. 16. */
export const xavierUniform = (gain = 1): Initializer =>
  madeBy("xavierUniform", [gain], (shape) => {
    const [i, o] = fansOf(shape);
    const bound = gain * Math.sqrt(6 / Math.max(1, i + o));
    return uniform(-bound, bound)(shape);
  });

/** Gaussian of deviation gain·√(2 / (fan in + fan out)). */
export const xavierNormal = (gain = 1): Initializer =>
  madeBy("xavierNormal", [gain], (shape) => {
    const [i, o] = fansOf(shape);
    return normal(0, gain * Math.sqrt(2 / Math.max(1, i + o)))(shape);
  });

/**
 * What PyTorch gives a weight by default: `kaimingUniform(√5)`, that is even within ±1/√(fan in).
 */
export const defaultWeight: Initializer = (shape) => kaimingUniform(Math.sqrt(5))(shape);

/** What PyTorch gives a bias by default: even within ±1/√(fan in of its weight). */
export const defaultBias = (weight: readonly number[]): Initializer => {
  const bound = 1 / Math.sqrt(Math.max(1, fansOf(weight)[0]));
  return uniform(-bound, bound);
};

/**
 * Rows (or columns, where there are fewer) are orthonormal, times `gain`; axes from 1 on are taken
 * as one. Modified Gram–Schmidt on Gaussian rows. Saxe et al. 2014.
 */
export const orthogonal = (gain = 1): Initializer =>
  madeBy("orthogonal", [gain], (shape) => {
    const size = sizeOf(shape);
    if (skipped) return new Float32Array(size);
    const rows = shape[0] ?? 1;
    const columns = size / Math.max(1, rows);
    const [count, length] = rows <= columns ? [rows, columns] : [columns, rows];
    const basis = orthonormal(count, length);
    const at = (r: number, c: number) => (rows <= columns ? basis[r]![c]! : basis[c]![r]!);
    return Float32Array.from(
      { length: rows * columns },
      (_, i) => gain * at(Math.floor(i / columns), i % columns),
    );
  });

function orthonormal(count: number, length: number): Float64Array[] {
  const basis: Float64Array[] = [];
  for (let i = 0; i < count; i++) {
    const v = Float64Array.from({ length }, () => generator.normal());
    for (const u of basis) {
      const dot = v.reduce((sum, x, k) => sum + x * u[k]!, 0);
      for (let k = 0; k < length; k++) v[k]! -= dot * u[k]!;
    }
    const norm = Math.hypot(...v);
    basis.push(v.map((x) => x / norm));
  }
  return basis;
}
