/**
 * Checks that no kernel reads or writes outside of its parameters and local arrays: of each store,
 * load and touch it is proved that its index is at least 0 and less than the size, under the loops
 * and guards around it. Where a proof for all iterations of a loop is not found and its range is
 * known, each iteration is looked at by itself, so that with numbers for all symbols the answer is
 * exact. Changes nothing; tests run it over what is compiled.
 */
import { type Dim, mulDim, printDim, subDim } from "@kiln-ml/ir";
import type { Expr, Kernel, Of, Stmt } from "./kernel.ts";
import type { MatrixShape, MatrixStep } from "./matrix.ts";
import { isProved } from "./proof.ts";
import {
  assuming,
  between,
  counting,
  fixing,
  inTermsOf,
  type Known,
  naming,
  rangeOf,
} from "./reach.ts";
import { exprsOf } from "./uses.ts";
import { type Bounds, boundsOf, isExact } from "./value-bounds.ts";

/** Iterations that are looked at one by one, at most, before a kernel is called undecided. */
const mostTried = 50_000;

/** What is known at a statement. */
interface Scope {
  readonly known: Known;
  /** Dtypes of parameters and arrays; what is known has their sizes, as it has what they depend on. */
  readonly arrays: ReadonlyMap<string, string>;
  /** Of names that `let` binds. */
  readonly values: ReadonlyMap<string, Bounds>;
  readonly shapes: ReadonlyMap<string, MatrixShape>;
}

/**
 * What may lie outside of a kernel's memory, the first that is not proved to lie inside; undefined
 * if all does. `dims` has a number or an expression for each of the kernel's dims; `starts` says at
 * which elements its parameters begin. Without `reads` only what is written is looked at: WebGPU
 * keeps reads inside, and tiles use nothing of what lay beyond.
 */
export function findOutside(
  kernel: Kernel,
  dims: ReadonlyMap<string, Dim>,
  { starts = [], reads = true }: { starts?: readonly number[]; reads?: boolean } = {},
): string | undefined {
  let known: Known = { names: dims, facts: [] };
  for (const [i, { name, size }] of kernel.params.entries())
    known = naming(known, sizeOf(name), subDim(inTermsOf(size, known), starts[i] ?? 0));
  const arrays = new Map(kernel.params.map(({ name, dtype }) => [name, dtype]));
  const scope = { known, arrays, values: new Map(), shapes: new Map() };
  const apart = [...dims.values()].every((d) => typeof d === "number");
  const tried = { left: apart ? mostTried : 0 };
  return new Check({ size: kernel.workgroupSize, reads, tried }, apart).block(kernel.body, scope);
}

/** The name of an array's size among what is known; no symbol has it. */
const sizeOf = (array: string): string => `size of ${array}`;

interface Setting {
  /** Invocations of a workgroup. */
  readonly size: number;
  readonly reads: boolean;
  readonly tried: { left: number };
}

class Check {
  readonly #setting: Setting;
  /** Whether loops may be taken apart. */
  readonly #apart: boolean;

  constructor(setting: Setting, apart: boolean) {
    this.#setting = setting;
    this.#apart = apart;
  }

  block(body: readonly Stmt[], scope: Scope): string | undefined {
    let now = scope;
    for (const [i, s] of body.entries()) {
      const found = this.#reads(s, now) ?? this.#inside(s, now);
      if (found !== undefined) return found;
      const known = this.#drawn(s, now);
      if (known && "name" in s) return this.#each({ ...now, known }, s.name, body.slice(i + 1));
      now = after(s, now);
    }
    return undefined;
  }

  /** Where a name is bound to what is not an expression: with bounds for it. */
  #drawn(s: Stmt, { known, values }: Scope): Known | undefined {
    if (s.kind === "letInvocation" || s.kind === "letSubgroup")
      return between(known, s.name, [0], [this.#setting.size - 1]);
    if (s.kind !== "letDynamic") return undefined;
    const { lower, upper } = boundsOf(s.value, known, values);
    return between(known, s.name, lower, upper);
  }

  /**
   * The statements for all values of a name together; where that is not proved, for each of them.
   */
  #each(scope: Scope, name: string, body: readonly Stmt[]): string | undefined {
    const together = new Check(this.#setting, false).block(body, scope);
    if (together === undefined || !this.#apart) return together;
    const range = rangeOf(scope.known, name);
    // Of one value, or of values without bounds, there is nothing to go through; what is inside may
    // be taken apart.
    if (!range) return this.block(body, scope);
    for (let value = range.min; value <= range.max; value++) {
      if (this.#setting.tried.left-- <= 0) return `${together}: undecided`;
      const known = fixing(scope.known, name, value);
      const found = known && this.block(body, { ...scope, known });
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #inside(s: Stmt, scope: Scope): string | undefined {
    switch (s.kind) {
      case "store":
        return access("store to", s.to, s.index, scope);
      case "prefetch":
        return access("touch of", s.from, s.index, scope);
      case "matrix":
        return s.does.step === "load" && !this.#setting.reads ? undefined : matrix(s.does, scope);
      case "sort":
        return sort(s, scope);
      case "if": {
        const known = assuming(scope.known, s.when);
        return known && this.block(s.then, { ...scope, known });
      }
      case "loop": {
        const [start, end] = [s.start ?? 0, s.extent].map((d) => inTermsOf(d, scope.known));
        const range = { start: start!, end: end!, step: s.step ?? 1 };
        const known = counting(scope.known, s.name, range);
        return known && this.#each({ ...scope, known }, s.name, s.body);
      }
      default:
        return undefined;
    }
  }

  /** Every load in the expressions of a statement. */
  #reads(s: Stmt, scope: Scope): string | undefined {
    if (!this.#setting.reads) return undefined;
    const seen = new Set<Expr>();
    const visit = (e: Expr): string | undefined => {
      if (seen.has(e)) return undefined;
      seen.add(e);
      if (e.kind === "load") {
        const known = assuming(scope.known, e.guard);
        return known && access("load from", e.from, e.index, { ...scope, known });
      }
      return e.kind === "call" ? first(e.args, visit) : undefined;
    };
    return first(exprsOf(s), visit);
  }
}

function first<T>(list: readonly T[], find: (x: T) => string | undefined): string | undefined {
  for (const x of list) {
    const found = find(x);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What is known after a statement that binds a name. */
function after(s: Stmt, scope: Scope): Scope {
  const { known, arrays, shapes } = scope;
  switch (s.kind) {
    case "letIndex":
      return { ...scope, known: naming(known, s.name, inTermsOf(s.value, known)) };
    case "let":
      return bound(s, scope);
    case "array": {
      const sized = naming(known, sizeOf(s.name), inTermsOf(s.size, known));
      return { ...scope, known: sized, arrays: new Map(arrays).set(s.name, s.dtype) };
    }
    case "matrix":
      if (s.does.step !== "zero") return scope;
      return { ...scope, shapes: new Map(shapes).set(s.does.name, s.does.shape) };
    default:
      return scope;
  }
}

/**
 * A value that lies in a range is a symbol, so that what is made of it twice is known to agree.
 */
function bound({ name, value }: Of<"let">, scope: Scope): Scope {
  const values = new Map(scope.values);
  const bounds = boundsOf(value, scope.known, values);
  const { lower, upper } = bounds;
  const known = lower.length > 0 && upper.length > 0 && !isExact(bounds);
  if (!known) return { ...scope, values: values.set(name, bounds) };
  values.delete(name);
  return { ...scope, values, known: between(scope.known, name, lower, upper) };
}

/** The access to `count` elements from `index` on. */
function access(
  what: string,
  name: string,
  index: Dim,
  { known }: Scope,
  count: Dim = 1,
): string | undefined {
  const size = known.names.get(sizeOf(name))!;
  const at = inTermsOf(index, known);
  const left = subDim(subDim(size, at), inTermsOf(count, known));
  if (isProved(at, known.facts) && isProved(left, known.facts)) return undefined;
  return `${what} ${name}[${printDim(index)}]: ${printDim(at)} of ${printDim(size)}`;
}

function matrix(does: MatrixStep, scope: Scope): string | undefined {
  if (does.step !== "load" && does.step !== "store") return undefined;
  const { m, n, k } = does.step === "load" ? does.shape : scope.shapes.get(does.name)!;
  const rows = does.step === "load" && does.side === "right" ? k : m;
  const columns = does.step === "load" && does.side === "left" ? k : n;
  const [far, near] = does.step === "load" && does.turned ? [columns, rows] : [rows, columns];
  const name = does.step === "load" ? does.from : does.to;
  const count = (far - 1) * does.stride + near;
  return access(`matrix ${does.step}`, name, does.index, scope, count);
}

function sort({ keys, order, spare, size, count }: Of<"sort">, scope: Scope): string | undefined {
  const words = scope.arrays.get(keys) === "f64" ? 8 : 4;
  const needed = mulDim(inTermsOf(size, scope.known), words);
  return (
    access("sort of", keys, 0, scope, size) ??
    access("sort into", order, 0, scope, count) ??
    access("sort with", spare, 0, scope, needed)
  );
}
