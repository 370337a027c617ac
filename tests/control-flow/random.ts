/**
 * Random programs with regions, nested two deep: every list of picks is a program. Values stay small, so that loops do
 * not make rounding large. No tests here.
 */
import {
  cond,
  constant,
  type Dim,
  dim,
  input,
  makeValue,
  scan,
  type Tensor,
  type Value,
  whileLoop,
} from "@kiln-ml/ir";
import fc from "fast-check";
import type { Program } from "../../compiler/src/program.ts";
import { printProgram } from "../support/reference.ts";

type Pick = readonly [op: number, a: number, b: number, c: number];

/** Vectors of one length, and numbers; what a body sees grows by what is made in it. */
class Growth {
  readonly pool: Tensor[];
  readonly size: number;
  private readonly picks: readonly Pick[];
  private readonly shared: { at: number };
  private readonly depth: number;
  private readonly length: Dim;

  constructor(
    pool: readonly Tensor[],
    picks: readonly Pick[],
    length: Dim,
    depth = 0,
    shared = { at: 0 },
  ) {
    this.pool = [...pool];
    this.size = pool[0]!.shape[0] as number;
    this.picks = picks;
    this.length = length;
    this.depth = depth;
    this.shared = shared;
  }

  vector(n: number): Tensor {
    return this.pool[n % this.pool.length]!;
  }

  /** Takes up to `most` picks, fewer inside. */
  grow(most: number): void {
    for (let i = 0; i < most; i++) {
      const pick = this.picks[this.shared.at++];
      if (!pick) return;
      this.pool.push(...this.step(pick));
    }
  }

  private inner(more: readonly Tensor[]): Growth {
    const inner = new Growth(
      [...this.pool, ...more],
      this.picks,
      this.length,
      this.depth + 1,
      this.shared,
    );
    inner.grow(2);
    return inner;
  }

  private step([op, a, b, c]: Pick): Tensor[] {
    const [x, y] = [this.vector(a), this.vector(b)];
    const simple: readonly (() => Tensor)[] = [
      () => x.add(y).mul(0.5),
      () => x.mul(y),
      () => x.sub(y).tanh(),
      () => x.maximum(y.neg()),
      () => x.reverse([0]),
      () => x.cumsum(0).mul(0.3),
      () => x.sum().mul(0.25).add(y),
      () =>
        x
          .reshape([1, this.size])
          .matmul(y.reshape([this.size, 1]).mul(x))
          .reshape([this.size])
          .sin(),
      () => x.less(y).select(x, y.neg()),
    ];
    const nested: readonly (() => Tensor[])[] = [
      () => this.scan(a, b, c),
      () => this.cond(a, b, c),
      () => this.whileLoop(a, b, c),
    ];
    const kinds = this.depth < 2 ? nested.length : 0;
    const at = op % (simple.length + 2 * kinds);
    return at < simple.length ? [simple[at]!()] : nested[(at - simple.length) % kinds]!();
  }

  private scan(a: number, b: number, c: number): Tensor[] {
    const xs = [this.vector(a).reshape([1, this.size]), this.vector(b).reshape([1, this.size])];
    const rows = xs[0]!.mul(0.5).broadcastTo([this.length, this.size]);
    const sequences = c % 2 ? [rows] : [rows, rows.reverse([0]).sin()];
    const init = c % 3 ? [this.vector(a), this.vector(b)] : [this.vector(c)];
    const { carry, ys } = scan(
      init,
      sequences,
      (carried, slices, step) => {
        const inner = this.inner([...carried, ...slices, slices[0]!.add(step.mul(0.1)).sin()]);
        const last = inner.pool.length - 1;
        const next = carried.map((t, i) =>
          c % 5 === 0 ? carried.at(-1 - i)! : c % 5 === 1 && i ? t : inner.vector(last - i),
        );
        return {
          carry: next,
          ys: [inner.vector(last), inner.vector(b), carried[0]!].slice(0, 1 + (a % 3)),
        };
      },
      { reverse: b % 2 === 1 },
    );
    return [...carry, ...ys.map((y) => y.sum(0).mul(0.2)), ys[0]!.max(0)];
  }

  private cond(a: number, b: number, c: number): Tensor[] {
    const pred = this.vector(a)
      .sum()
      .less(c % 2 ? this.vector(b).max() : 0.1);
    const branch = (n: number) => () => {
      const inner = this.inner([]);
      return [inner.vector(inner.pool.length - 1), inner.vector(n)];
    };
    return cond(pred, branch(b), branch(c));
  }

  private whileLoop(a: number, b: number, c: number): Tensor[] {
    const [x, y] = whileLoop(
      [this.vector(a), this.vector(b), constant(0, "i32")],
      (u, v, i) =>
        u
          .sum()
          .sub(v.sum())
          .abs()
          .greater(0.05)
          .and(i.less(c % 5)),
      (u, v, i) => {
        const inner = this.inner([u, v]);
        return [inner.vector(inner.pool.length - 1).mul(0.9), c % 2 ? u : v, i.add(1)];
      },
      c % 3 ? {} : { maxTrips: 2 },
    );
    return [x!, y!];
  }
}

export interface RandomFlow {
  readonly program: Program;
  feeds(length: number): Map<Tensor, Value>;
}

export function randomFlow(dtype: "f32" | "f64" = "f32"): fc.Arbitrary<RandomFlow> {
  const pick = fc.tuple(fc.nat(40), fc.nat(30), fc.nat(30), fc.nat(30));
  const plan = fc.record({
    size: fc.integer({ min: 1, max: 5 }),
    length: fc.constantFrom<Dim>(dim("T"), 3),
    picks: fc.array(pick, { minLength: 1, maxLength: 14, size: "max" }),
    outputs: fc.array(fc.nat(20), { minLength: 1, maxLength: 3 }),
  });
  return plan.map(({ size, length, picks, outputs }) => {
    const inputs = ["a", "b"].map((name) => input(name, dtype, [size]));
    const sized = input("sized", "i32", ["T"]);
    const growth = new Growth(inputs, picks, length);
    growth.grow(5);
    const last = growth.pool.length - 1;
    const program: Program = {
      inputs: [...inputs, sized],
      outputs: outputs.map((n, i) => ({
        name: `y${i}`,
        value: growth.vector(last - (n % (last + 1))),
      })),
      updates: [],
    };
    const feeds = (steps: number) => {
      const numbers = (phase: number) =>
        Array.from({ length: size }, (_, i) => Math.sin(phase + 2.3 * i));
      return new Map<Tensor, Value>([
        ...inputs.map((t, i) => [t, makeValue(dtype, [size], numbers(i + 0.4))] as const),
        [sized, makeValue("i32", [steps], new Array(steps).fill(0))],
      ]);
    };
    const random = { program, feeds };
    return Object.assign(random, { [fc.toStringMethod]: () => printProgram(program) });
  });
}
