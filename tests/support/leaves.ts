/**
 * The growing program behind a random graph: its leaves, its pool of tensors to draw operands from, and the
 * values that are fed. All choices come from the numbers in a step, so equal steps give equal programs.
 */
import {
  broadcastTo,
  constant,
  type Dim,
  type Dtype,
  dataLeaf,
  declareParam,
  evaluateDim,
  full,
  input,
  isFloat,
  isStatic,
  type ResultType,
  roundTo,
  type Shape,
  sameDim,
  sameShape,
  sizeOf,
  type Tensor,
  toHost,
  type Value,
} from "@kiln-ml/ir";

/** One instruction: which op, which operands, and numbers for whatever else the op needs to know. */
export interface Step {
  readonly op: number;
  readonly x: number;
  readonly y: number;
  readonly k: readonly number[];
}

/** Results larger than this are not built: the reference evaluator is slow. */
const maxElements = 200;

export class Growth {
  readonly inputs: Tensor[] = [];
  readonly params: Tensor[] = [];
  readonly pool: Tensor[] = [];
  readonly dtypes: readonly Dtype[];
  readonly maxDepth: number;
  private readonly depths = new Map<Tensor, number>();

  constructor(dtypes: readonly Dtype[], maxDepth: number) {
    this.dtypes = dtypes;
    this.maxDepth = maxDepth;
  }

  /** Adds a result to the pool, unless it is too large or too deep. */
  add(t: Tensor, from: readonly Tensor[] = []): void {
    const size = evaluateDim(sizeOf(t.shape), { N: 3 });
    const depth = Math.max(-1, ...from.map((x) => this.depths.get(x) ?? 0)) + 1;
    if (size > maxElements || depth > this.maxDepth) return;
    this.depths.set(t, Math.min(depth, this.depths.get(t) ?? depth));
    this.pool.push(t);
  }

  /** Room for another step on top. */
  isShallow(t: Tensor): boolean {
    return this.depths.get(t)! < this.maxDepth;
  }

  /** The n-th tensor of the pool that fits, counted from the newest and around. */
  pick(n: number, fits: (t: Tensor) => boolean = () => true): Tensor | undefined {
    const list = this.pool.filter(fits);
    return list[list.length - 1 - (n % list.length)];
  }

  /** A tensor of exactly this type: one from the pool, broadcast if need be, or a new leaf. */
  like(n: number, dtype: Dtype, shape: Shape): Tensor {
    const smaller = (t: Tensor) =>
      t.dtype === dtype &&
      t.rank <= shape.length &&
      t.shape.every((d, i) => d === 1 || sameDim(d, shape[i + shape.length - t.rank]!));
    const found = n % 3 === 0 ? undefined : this.pick(n >> 2, smaller);
    return broadcastTo(found ?? this.leaf(n, dtype, unbroadcast(shape, n >> 2)), shape);
  }

  /** A new input, parameter, constant or data leaf. */
  leaf(n: number, dtype: Dtype, shape: Shape): Tensor {
    const fixed = shape.every(isStatic);
    if (n % 7 === 0) return full(shape, ([0, 1, 2, -1][n % 4] as number) || 0, dtype);
    if (n % 7 === 1 && shape.length === 0) return constant(sample(dtype, n), dtype);
    if (n % 7 === 2 && fixed) {
      const values = Array.from({ length: Number(sizeOf(shape)) }, (_, i) => sample(dtype, n + i));
      return dataLeaf(dtype, shape as number[], toHost(dtype, values));
    }
    if (n % 7 === 3 && fixed) return this.paramLike({ dtype, shape }, n);
    const old = n % 2 ? find(this.inputs, { dtype, shape }) : undefined;
    if (old) return old;
    const made = input(`x${this.inputs.length}`, dtype, shape);
    this.inputs.push(made);
    return made;
  }

  /** A parameter of this type; one that is there if `n` is odd. */
  paramLike(type: ResultType, n: number): Tensor {
    const old = n % 2 ? find(this.params, type) : undefined;
    if (old) return old;
    const { dtype, shape } = type;
    const made = declareParam(`p${this.params.length}`, dtype, shape, isFloat(dtype));
    this.params.push(made);
    return made;
  }
}

const find = (list: readonly Tensor[], { dtype, shape }: ResultType): Tensor | undefined =>
  list.find((t) => t.dtype === dtype && sameShape(t.shape, shape));

/** A shape that broadcasts to `shape`: leading axes dropped or axes set to 1, as the bits of `n` say. */
function unbroadcast(shape: Shape, n: number): Dim[] {
  const drop = n % 4 === 3 ? 1 + (n % Math.max(1, shape.length)) : 0;
  return shape.slice(drop).map((d, i) => (n % 4 === 2 && (n >> (i + 2)) & 1 ? 1 : d));
}

/** Small numbers with exact halves and quarters, zeros of both signs among them. */
function sample(dtype: Dtype, n: number): number {
  const hash = Math.imul(n + 1, 0x9e3779b1) >>> 8;
  if (dtype === "bool") return hash & 1;
  if (!isFloat(dtype)) return roundTo(dtype, (hash % 19) - 9);
  if (hash % 23 === 0) return -0;
  return ((hash % 65) - 32) / 8;
}

/** A value for every input and parameter. */
export function sampleFeeds(
  leaves: readonly Tensor[],
  dims: Readonly<Record<string, number>>,
): Map<Tensor, Value> {
  const feeds = new Map<Tensor, Value>();
  for (const [which, t] of leaves.entries()) {
    const shape = t.shape.map((d) => evaluateDim(d, dims));
    const data = new Float64Array(shape.reduce((a, b) => a * b, 1));
    for (let i = 0; i < data.length; i++) data[i] = sample(t.dtype, which * 1009 + i);
    feeds.set(t, { dtype: t.dtype, shape, data });
  }
  return feeds;
}
