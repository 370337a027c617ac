/**
 * What a kernel's statements read and change: how often each expression is used, which names a
 * statement changes, which names an expression depends on. Facts only; the printers decide what to
 * do with them.
 */
import type { Dtype, Reducer } from "@kiln-ml/ir";
import type { Expr, Kernel, Stmt } from "./kernel.ts";
import { bodyOf, changedNames, exprsOf, partsOf, touchesOf } from "./parts.ts";
import { heldDtype } from "./types.ts";
import { eachStmt } from "./walk.ts";

export { exprsOf };

/**
 * Uses of each expression object: by statements, and once by each distinct expression around it.
 */
export function countUses(body: readonly Stmt[]): ReadonlyMap<Expr, number> {
  const uses = new Map<Expr, number>();
  const count = (e: Expr): void => {
    const before = uses.get(e) ?? 0;
    uses.set(e, before + 1);
    if (before === 0 && e.kind === "call") e.args.forEach(count);
  };
  eachStmt(body, (s) => {
    exprsOf(s).forEach(count);
  });
  return uses;
}

export const isArg = (reducer: Reducer | undefined): boolean =>
  reducer === "argMax" || reducer === "argMin";

/**
 * The name under which the extreme is kept beside an accumulator of argMax or argMin, which holds
 * the position.
 */
export const bestOf = (name: string): string => `${name}/best`;

/** What is known of a kernel's names before it is printed. */
export interface Facts {
  readonly uses: ReadonlyMap<Expr, number>;
  /**
   * Accumulators: their dtype, whether they are wide, the reducer that fills them, what it is fed.
   */
  readonly accs: ReadonlyMap<string, AccFacts>;
  /** Buffers and arrays whose elements may change while the kernel runs. */
  readonly mutable: ReadonlySet<string>;
  /** Buffers and arrays that other invocations may change, at a barrier. */
  readonly visible: ReadonlySet<string>;
  /** Element types of buffers and arrays, as memory holds them. */
  readonly dtypes: ReadonlyMap<string, Dtype>;
  /** What statements were found to change. */
  readonly changes: Map<Stmt, ReadonlySet<string>>;
}
export interface AccFacts {
  readonly dtype: Dtype;
  readonly wide: boolean;
  readonly reducer?: Reducer;
  readonly fed?: Dtype;
}

export function factsOf(kernel: Kernel): Facts {
  const accs = new Map<string, AccFacts>();
  const arrays = new Set<string>();
  const shared = new Set<string>();
  const dtypes = new Map<string, Dtype>(kernel.params.map((p) => [p.name, heldDtype(p)]));
  eachStmt(kernel.body, (s) => {
    if (s.kind === "acc") accs.set(s.name, { dtype: s.dtype, wide: s.widened });
    else if (s.kind === "accumulate" && accs.has(s.name))
      accs.set(s.name, { ...accs.get(s.name)!, reducer: s.reducer, fed: s.value.dtype });
    else if (s.kind === "array") {
      arrays.add(s.name);
      dtypes.set(s.name, heldDtype(s));
      if (s.space === "shared") shared.add(s.name);
    }
  });
  const written = kernel.params.filter((p) => p.access !== "read").map((p) => p.name);
  return {
    uses: countUses(kernel.body),
    accs,
    mutable: new Set([...written, ...arrays]),
    visible: new Set([...written, ...shared]),
    dtypes,
    changes: new Map(),
  };
}

/** Names of accumulators and buffers that one statement changes, those inside it included. */
export function changedBy(s: Stmt, facts: Facts): ReadonlySet<string> {
  const known = facts.changes.get(s);
  if (known) return known;
  const names = new Set(ownChanges(s, facts));
  for (const t of bodyOf(s)) for (const name of changedBy(t, facts)) names.add(name);
  facts.changes.set(s, names);
  return names;
}

function* ownChanges(s: Stmt, facts: Facts): Iterable<string> {
  yield* changedNames(s);
  for (const { memory, how } of touchesOf(s)) if (how !== "reads") yield memory;
  if (partsOf(s).meets) yield* facts.visible;
}

/** Accumulators and changeable buffers the value of `e` depends on. */
export function dependsOn(e: Expr, facts: Facts, memo: Map<Expr, ReadonlySet<string>>) {
  const known = memo.get(e);
  if (known) return known;
  const names = new Set<string>();
  if (e.kind === "ref" && facts.accs.has(e.name)) names.add(e.name);
  if (e.kind === "load" && facts.mutable.has(e.from)) names.add(e.from);
  if (e.kind === "call")
    for (const a of e.args) for (const n of dependsOn(a, facts, memo)) names.add(n);
  memo.set(e, names);
  return names;
}
