/**
 * `check` of `compile`: the program with one more result, the number of the first node that is at fault, and the error that says
 * which node that is. A node is at fault where it makes ∞ or NaN of finite numbers, or where an index is outside of what it
 * indexes. The program keeps every parameter as it was where there is a fault. Loaded when it is asked for.
 */
import type { Program } from "@kiln-ml/compiler";
import {
  bug,
  CheckError,
  claimOf,
  constant,
  dimValue,
  type Graph,
  ignoringAssignments,
  inlineCalls,
  inPlaceOf,
  input,
  isFloat,
  maxOf,
  opRecord,
  resultsOf,
  scopePath,
  select,
  type Tensor,
  topologicalOrder,
  withOperands,
} from "@kiln-ml/ir";
import type { Input } from "@kiln-ml/runtime/loader";
import { type CodeOptions, Runner } from "../devices/engine.ts";
import type { Session } from "../devices/session.ts";
import {
  failedIn,
  lookedAt,
  notFiniteIn,
  outsideIn,
  placeTold,
  type Suspect,
} from "./fault-place.ts";

/** What a run looks for: numbers that are not finite, indices that are outside. */
export type Check = "finite" | "indices";

export interface Checked {
  /** With the number of the fault as its last output, i32[]. */
  readonly program: Program;
  /**
   * Throws CheckError for that number, unless it says that there is no fault. A program of its own, run as the call was, says
   * where in a tensor the fault is.
   */
  verify(found: number, call: Call): Promise<void>;
}

/** What was run, and how. */
export interface Call {
  readonly session: Session;
  readonly code: CodeOptions;
  readonly inputs: readonly Input[];
}

/** No fault; also what a minimum over no steps gives. */
const none = maxOf("i32");

interface Fault {
  readonly node: Tensor;
  readonly what: string;
  /** Tensors of which one has the element; none inside of regions. */
  readonly suspects: () => readonly Suspect[];
}

/** The program that looks for what `checks` name. */
export const checkProgram = (source: Program, checks: ReadonlySet<Check>): Checked =>
  ignoringAssignments(() => instrument(source, checks));

function instrument(source: Program, checks: ReadonlySet<Check>): Checked {
  const targets = source.updates.map(([target]) => target);
  const roots = inlineCalls([
    ...source.outputs.map((o) => o.value),
    ...source.updates.map(([, value]) => value),
  ]);
  const search = new Search(checks, roots);
  const { values, code } = search.within(roots);
  const found = code ?? constant(none, "i32");
  const kept = values.slice(source.outputs.length);
  const program: Program = {
    ...source,
    outputs: [
      ...source.outputs.map((o, i) => ({ ...o, value: values[i]! })),
      { name: "check", value: found },
    ],
    updates: targets.map((t, i) => [t, select(found.equal(none), kept[i]!, t)] as const),
  };
  const place = (fault: Fault, call: Call): Promise<string | undefined> =>
    ignoringAssignments(() => placeOf(source, fault, call));
  return { program, verify: (n, call) => search.verify(n, (fault) => place(fault, call)) };
}

/** In which element the fault is, and its value. */
async function placeOf(
  source: Program,
  { suspects }: Fault,
  call: Call,
): Promise<string | undefined> {
  for (const suspect of suspects()) {
    const outputs = lookedAt(suspect).map((value, i) => ({ name: `seen${i}`, value }));
    const told = placeTold(await outputsOf({ ...source, outputs, updates: [] }, call));
    if (told !== undefined) return told;
  }
  return undefined;
}

async function outputsOf(program: Program, { session, code, inputs }: Call): Promise<number[][]> {
  const runner = await Runner.compile(session, program, code);
  const outputs = await runner.run(inputs);
  const seen: number[][] = [];
  for (const array of outputs) {
    seen.push(Array.from(await array.data(), Number));
    array.dispose();
  }
  runner.dispose();
  return seen;
}

/** Ops that make no ∞ or NaN of finite numbers, or only pass them on. */
const harmless = new Set(
  "neg abs sign floor ceil round trunc sin cos atan tanh sigmoid erf maximum minimum select stopGradient reduceMax reduceMin cummax cummin".split(
    " ",
  ),
);

/** Ops that hold numbers of a user's. */
const leaves = new Set(["input", "param", "data"]);

const families = new Set(["elementwise", "reduce", "scan", "contraction", "scatter"]);

class Search {
  readonly #checks: ReadonlySet<Check>;
  readonly #ranks: ReadonlyMap<Tensor, number>;
  readonly #faults = new Map<number, Fault>();

  constructor(checks: ReadonlySet<Check>, roots: readonly Tensor[]) {
    this.#checks = checks;
    this.#ranks = ranksOf(roots);
  }

  async verify(
    found: number,
    placeOf: (fault: Fault) => Promise<string | undefined>,
  ): Promise<void> {
    if (found === none) return;
    const fault = this.#faults.get(found) ?? bug("check", `there is no fault ${found}`);
    const { node, what } = fault;
    const place = await placeOf(fault);
    const path = scopePath(node.scope);
    const where = [node.site, path && `in ${path}`].filter((x) => x !== undefined).join(", ");
    throw new CheckError(
      `check: ${what}${place ? `: ${place}` : ""}${where ? ` (${where})` : ""}\n  parameters are as they were before the call`,
    );
  }

  /**
   * Values that are as `roots`, of a graph that looks at its nodes but for `parameters`, and the number of the first fault in it.
   */
  within(
    roots: readonly Tensor[],
    parameters: ReadonlySet<Tensor> = new Set(),
    inner = false,
  ): { values: Tensor[]; code: Tensor | undefined } {
    const done = new Map<Tensor, Tensor>();
    const codes: Tensor[] = [];
    for (const node of topologicalOrder(roots)) {
      const operands = node.operands.map((t) => done.get(t)!);
      const made = node.regions.length
        ? this.#control(node, operands, codes)
        : withOperands(node, operands);
      done.set(node, made);
      if (!parameters.has(node)) inPlaceOf(node, () => this.#look(node, made, codes, inner));
    }
    return { values: roots.map((t) => done.get(t)!), code: least(codes) };
  }

  #look(node: Tensor, made: Tensor, codes: Tensor[], inner: boolean): void {
    const add = (
      kind: 0 | 1,
      bad: Tensor | undefined,
      what: string,
      seek: () => readonly Suspect[],
    ): void => {
      if (!bad) return;
      const number = 2 * this.#ranks.get(node)! + kind;
      // What is inside of a region no program of its own can compute.
      this.#faults.set(number, { node, what, suspects: inner ? () => [] : seek });
      codes.push(select(bad, constant(number, "i32"), constant(none, "i32")));
    };
    const claim = claimOf(node);
    if (this.#checks.has("indices") && claim)
      add(0, brokenClaim(made, claim.holds), `${claim.op}: ${claim.wrong}`, () =>
        brokenIn(made, claim.holds),
      );
    if (this.#checks.has("finite"))
      add(1, notFinite(made), whatIsNotFinite(node), () => [
        notFiniteIn(made, leaves.has(made.op)),
      ]);
  }

  /** The node with the fault of its regions as one more result, which goes to `codes`. */
  #control(node: Tensor, operands: readonly Tensor[], codes: Tensor[]): Tensor {
    const parts = node.regions.map((g) => ({
      graph: g,
      ...this.within(g.results, new Set(g.params), true),
    }));
    const body = parts.at(-1)!;
    const looks = node.op === "cond" ? parts.some((p) => p.code) : body.code !== undefined;
    const { op, attrs } = node;
    const types = node.results ?? [node];
    const code = { dtype: "i32", shape: [] } as const;
    if (!looks) return withOperands(node, operands);
    if (op === "cond") {
      const regions = parts.map(({ graph, values, code: c }) => ({
        params: graph.params,
        results: [...values, c ?? constant(none, "i32")],
      }));
      return last(resultsOf({ op, operands, attrs, regions }, [...types, code]), codes);
    }
    if (op === "scan") {
      const regions = [{ params: body.graph.params, results: [...body.values, body.code!] }];
      const stacked = { dtype: "i32", shape: [attrs.length as number] } as const;
      const results = resultsOf({ op, operands, attrs, regions }, [...types, stacked]);
      codes.push(results.at(-1)!.min(0, { empty: "identity" }));
      return results[0]!.operands[0]!;
    }
    return this.#loop(node, operands, parts, codes);
  }

  /** A while loop carries the fault along. */
  #loop(
    { op, attrs, results, dtype, shape }: Tensor,
    operands: readonly Tensor[],
    parts: readonly { graph: Graph; values: Tensor[]; code: Tensor | undefined }[],
    codes: Tensor[],
  ): Tensor {
    const n = attrs.carries as number;
    const before = parts.map(() => input("fault", "i32"));
    const withOne = <T>(list: readonly T[], one: T): T[] => [
      ...list.slice(0, n),
      one,
      ...list.slice(n),
    ];
    const regions = parts.map(({ graph, values, code }, i) => ({
      params: withOne(graph.params, before[i]!),
      results: i === 0 ? values : [...values, code!.minimum(before[i]!)],
    }));
    const types = [...(results ?? [{ dtype, shape }]), { dtype: "i32", shape: [] } as const];
    const made = resultsOf(
      {
        op,
        operands: withOne(operands, constant(none, "i32")),
        attrs: { ...attrs, carries: n + 1 },
        regions,
      },
      types,
    );
    return last(made, codes);
  }
}

/** The node of these results, of which the last is a fault. */
function last(results: readonly Tensor[], codes: Tensor[]): Tensor {
  codes.push(results.at(-1)!);
  return results[0]!.operands[0]!;
}

/** Numbers of all nodes, those of regions included, in the order in which they were built. */
function ranksOf(roots: readonly Tensor[]): Map<Tensor, number> {
  const all = new Set<Tensor>();
  const enter = (list: readonly Tensor[]): void => {
    for (const t of topologicalOrder(list)) {
      all.add(t);
      for (const g of t.regions) enter(g.results);
    }
  };
  enter(roots);
  const order = [...all].sort((a, b) => a.id - b.id);
  return new Map(order.map((t, i) => [t, i]));
}

/** The least of all, by halves, so that no chain is as long as the program. */
function least(codes: readonly Tensor[]): Tensor | undefined {
  let list = [...codes];
  while (list.length > 1)
    list = list.flatMap((t, i) => (i % 2 ? [] : [list[i + 1] ? t.minimum(list[i + 1]!) : t]));
  return list[0];
}

const whatIsNotFinite = (node: Tensor): string =>
  leaves.has(node.op)
    ? `${node.op} ${String(node.attrs.name ?? "")} holds NaN`.replace("  ", " ")
    : `${node.op} makes ∞ or NaN of finite numbers`;

/** One bool: the node is where a number that is not finite comes from. */
function notFinite(t: Tensor): Tensor | undefined {
  if (!isFloat(t.dtype)) return undefined;
  if (leaves.has(t.op)) return t.isNan().any();
  const { family } = opRecord(t.op);
  if (!families.has(family) || harmless.has(t.op)) return undefined;
  const operands = t.operands.filter((x) => isFloat(x.dtype) && !isLiteral(x));
  if (family === "elementwise")
    return operands.reduce((bad, x) => bad.and(x.isFinite()), t.isFinite().not()).any();
  const clean = operands.map((x) => x.isFinite().all());
  return clean.reduce((bad, ok) => bad.and(ok), t.isFinite().not().any());
}

/** A finite constant, repeated or not. */
const isLiteral = (t: Tensor): boolean =>
  t.op === "broadcastInDim"
    ? isLiteral(t.operands[0]!)
    : t.op === "constant" && Number.isFinite(t.attrs.value);

/** One bool: what is claimed of the node does not hold. */
function brokenClaim(t: Tensor, holds: "places" | "all" | "some"): Tensor {
  if (holds === "all") return t.all().not();
  if (holds === "some") return t.any(-1).all().not();
  const skip = t.op === "scatter" ? 2 : 1;
  const axes = t.attrs.axes as readonly number[];
  const inside = t.operands.slice(skip).map((index, k) => {
    const at = index.convert("i32");
    const end = dimValue(t.operands[0]!.shape[axes[k]!]!);
    return at.greaterEqual(0).and(at.less(end)).all();
  });
  return inside.reduce((a, b) => a.and(b)).not();
}

/** Where it does not hold, as tensors of which one has the element. */
function brokenIn(t: Tensor, holds: "places" | "all" | "some"): Suspect[] {
  if (holds !== "places") {
    const suspect = failedIn(t, holds === "some");
    return suspect ? [suspect] : [];
  }
  const axes = t.attrs.axes as readonly number[];
  return t.operands
    .slice(t.op === "scatter" ? 2 : 1)
    .map((index, k) => outsideIn(index, t.operands[0]!.shape[axes[k]!]!));
}
