/**
 * Checks a kernel as a sentence of its language: names, access modes, what a target has, where
 * the invocations of a workgroup meet, and, in `verify-types.ts` and `in-bounds.ts`, dtypes and
 * bounds. Changes nothing. Tests run it over all kernels, and `compileProgram` over each that a
 * schedule makes where it is given as `verify`; no bundle has it.
 */
import type { TargetName } from "@kiln-ml/artifact";
import { bug, type Dim, symbolsIn } from "@kiln-ml/ir";
import { findOutside } from "./in-bounds.ts";
import type { Expr, Kernel, Param, Stmt } from "./kernel.ts";
import {
  type Binder,
  bindingOf,
  bodyOf,
  changedNames,
  dimsOf,
  exprsOf,
  fieldsOf,
  partsOf,
  touchesOf,
} from "./parts.ts";
import { printKernel, printStmt } from "./print.ts";
import { dimVaries, exprVaries, type Varying } from "./varies.ts";
import { type Declared, typeFaults } from "./verify-types.ts";
import { walkExpr } from "./walk.ts";

/** What is wrong with a kernel, each with the statement it is found in; none if nothing is. */
export function faultsOf(kernel: Kernel, target: TargetName): string[] {
  const found = new Verifier(kernel, target).faults();
  return found.length > 0 ? found : boundFaults(kernel, target);
}

/** Throws where a kernel is none that `target` can have, with the text of the kernel. */
export function verifyKernel(kernel: Kernel, target: TargetName): void {
  const [fault] = faultsOf(kernel, target);
  if (fault !== undefined)
    bug("verify", `${target}: ${kernel.name}: ${fault}`, printKernel(kernel).trimEnd());
}

/** Bounds are looked at with numbers for the dims, which is exact: the least, and one beyond tiles. */
function boundFaults(kernel: Kernel, target: TargetName): string[] {
  const ranges = new Map<string, { readonly min: number; readonly max: number }>();
  const see = (d: Dim): void => {
    for (const [name, s] of symbolsIn(d)) if (kernel.dims.includes(name)) ranges.set(name, s);
  };
  for (const p of kernel.params) see(p.size);
  const seen = new Set<Expr>();
  const each = (body: readonly Stmt[]): void => {
    for (const s of body) {
      dimsOf(s).forEach(see);
      for (const e of exprsOf(s)) walkExpr(e, { dim: see }, seen);
      each(bodyOf(s));
    }
  };
  each(kernel.body);
  const dims = [...ranges];
  const values = dims.length === 0 ? [1] : [1, 7];
  return values.flatMap((n) => {
    const at = new Map(dims.map(([name, { min, max }]) => [name, Math.min(max, Math.max(min, n))]));
    const outside = findOutside(kernel, at, { reads: target !== "webgpu" });
    return outside === undefined || outside.endsWith("undecided") ? [] : [outside];
  });
}

/** A name in force. */
type Bound = Binder | "param";
type Scope = Map<string, Bound>;

const onlyGpu: ReadonlySet<string> = new Set(
  "letInvocation letSubgroup matrix combine prefix".split(" "),
);
const onlyCpu: ReadonlySet<string> = new Set(["sort", "prefetch", "scheduleBarrier"]);
const gpuLoops: ReadonlySet<string> = new Set(["workgroup", "local"]);

class Verifier {
  readonly #kernel: Kernel;
  readonly #gpu: boolean;
  readonly #target: TargetName;
  readonly #params: ReadonlyMap<string, Param>;
  readonly #types: Declared;
  readonly #found: string[] = [];
  /** Symbols and names that differ between the invocations of a workgroup. */
  readonly #symbols = new Set<string>();
  readonly #names = new Set<string>();
  readonly #varying: Varying = {
    symbols: this.#symbols,
    name: (name) => this.#names.has(name),
  };

  constructor(kernel: Kernel, target: TargetName) {
    this.#kernel = kernel;
    this.#target = target;
    this.#gpu = target === "webgpu";
    this.#params = new Map(kernel.params.map((p) => [p.name, p]));
    this.#types = new Map(kernel.params.map((p) => [`${p.name}[]`, p.dtype]));
  }

  faults(): string[] {
    const { params, dims, body } = this.#kernel;
    const scope: Scope = new Map();
    for (const p of params) this.#bind(scope, p.name, "param", `parameter ${p.name}`);
    for (const name of dims) this.#bind(scope, `dim ${name}`, "index", `dim ${name}`);
    for (const p of params) this.#dims([p.size], [scope], `parameter ${p.name}`);
    this.#block(body, [scope], { uniform: true, depth: 0 });
    return this.#found;
  }

  #fail(problem: string, where: string): void {
    this.#found.push(`${problem} (${where})`);
  }

  #bind(scope: Scope, name: string, as: Bound, where: string): void {
    if (scope.has(name)) this.#fail(`${name} is bound twice in one block`, where);
    scope.set(name, as);
  }

  /** `depth` is the number of statements around the block. */
  #block(
    body: readonly Stmt[],
    outer: readonly Scope[],
    at: { readonly uniform: boolean; readonly depth: number },
  ): void {
    const scopes = [...outer, new Map()];
    for (const s of body) this.#stmt(s, scopes, at);
  }

  #stmt(
    s: Stmt,
    scopes: readonly Scope[],
    at: { readonly uniform: boolean; readonly depth: number },
  ): void {
    const where = s.kind === "loop" || s.kind === "if" ? s.kind : this.#textOf(s);
    this.#exists(s, at.depth, where);
    this.#dims(dimsOf(s), scopes, where);
    for (const e of exprsOf(s)) this.#reads(e, scopes, where);
    for (const t of touchesOf(s)) this.#touch(t.memory, t.how, scopes, where);
    for (const name of usedNames(s)) this.#known(name, scopes, ["accumulator", "matrix"], where);
    for (const fault of typeFaults(s, this.#types)) this.#fail(fault, where);
    if (this.#gpu && partsOf(s).meets && !at.uniform)
      this.#fail("not all invocations of the workgroup arrive here", where);
    const bound = bindingOf(s);
    const inner: Scope = new Map();
    if (bound?.as === "index" && scopes.some((around) => around.get(bound.name) === "index"))
      this.#fail(`${bound.name} is bound where it is in force`, where);
    else if (bound) {
      const scope = bodyOf(s).length > 0 || s.kind === "loop" ? inner : scopes.at(-1)!;
      this.#bind(scope, bound.name, bound.as, where);
    }
    this.#vary(s, at.uniform);
    if (s.kind !== "loop" && s.kind !== "if") return;
    const uniform = at.uniform && this.#runsAlike(s);
    // What a later iteration is told by an earlier one may differ.
    if (s.kind === "loop" && this.#gpu) this.#spread(s.body, uniform);
    this.#block(bodyOf(s), [...scopes, inner], { uniform, depth: at.depth + 1 });
  }

  #textOf = (s: Stmt): string => printStmt(s, this.#kernel);

  /** What a target has, and where. */
  #exists(s: Stmt, depth: number, where: string): void {
    const gpu =
      onlyGpu.has(s.kind) ||
      (s.kind === "loop" && gpuLoops.has(s.loop)) ||
      (s.kind === "array" && s.space === "shared");
    if (gpu && !this.#gpu) this.#fail(`${this.#target} has no workgroups`, where);
    if (onlyCpu.has(s.kind) && this.#gpu) this.#fail(`webgpu has no ${s.kind}`, where);
    if (s.kind === "barrier" && !this.#gpu && depth > 0)
      this.#fail("phases are parted at the top of a kernel only", where);
  }

  #known(name: string, scopes: readonly Scope[], as: readonly Bound[], where: string): void {
    for (let i = scopes.length - 1; i >= 0; i--) {
      const found = scopes[i]!.get(name);
      if (found === undefined) continue;
      if (!as.includes(found)) this.#fail(`${name} is no ${as[0]}`, where);
      return;
    }
    this.#fail(`${name} is not bound`, where);
  }

  #dims(dims: readonly Dim[], scopes: readonly Scope[], where: string): void {
    for (const d of dims)
      for (const name of symbolsIn(d).keys())
        if (!scopes[0]!.has(`dim ${name}`)) this.#known(name, scopes, ["index"], where);
  }

  #reads(e: Expr, scopes: readonly Scope[], where: string): void {
    walkExpr(e, {
      dim: (d) => this.#dims([d], scopes, where),
      memory: (name) => this.#touch(name, "reads", scopes, where),
      expr: (x) => {
        if (x.kind === "ref") this.#known(x.name, scopes, ["value", "accumulator"], where);
      },
    });
  }

  #touch(name: string, how: string, scopes: readonly Scope[], where: string): void {
    this.#known(name, scopes, ["array", "param"], where);
    const access = this.#params.get(name)?.access ?? "readwrite";
    if (how !== "writes" && access === "write") this.#fail(`${name} is only written`, where);
    if (how !== "reads" && access === "read") this.#fail(`${name} is only read`, where);
  }

  /** Whether all invocations of a workgroup run the same iterations of a loop, or all a branch. */
  #runsAlike(s: Stmt): boolean {
    if (s.kind === "loop" && s.loop === "local") return false;
    return !dimsOf(s).some((d) => dimVaries(d, this.#varying));
  }

  /** What comes to differ between invocations by a statement. */
  #vary(s: Stmt, uniform: boolean): void {
    const bound = bindingOf(s);
    const differs =
      dimsOf(s).some((d) => dimVaries(d, this.#varying)) ||
      exprsOf(s).some((e) => exprVaries(e, this.#varying));
    if (s.kind === "letInvocation" || s.kind === "letSubgroup") this.#symbols.add(s.name);
    else if (s.kind === "loop") {
      if (s.loop === "local" || differs) this.#symbols.add(s.name);
      else this.#symbols.delete(s.name);
    } else if (s.kind === "combine" && s.team === undefined)
      for (const name of s.names) this.#names.delete(name);
    else if (bound?.as === "index")
      if (differs) this.#symbols.add(bound.name);
      else this.#symbols.delete(bound.name);
    else if (bound)
      if (differs) this.#names.add(bound.name);
      else this.#names.delete(bound.name);
    else if (differs || !uniform || s.kind === "prefix")
      for (const name of changedNames(s)) this.#names.add(name);
  }

  /** Runs through a block once for what differs, until nothing more does. */
  #spread(body: readonly Stmt[], uniform: boolean): void {
    const count = this.#names.size;
    const each = (list: readonly Stmt[], alike: boolean): void => {
      for (const s of list) {
        this.#vary(s, alike);
        each(bodyOf(s), alike && this.#runsAlike(s));
      }
    };
    each(body, uniform);
    if (this.#names.size > count) this.#spread(body, uniform);
  }
}

/** Accumulators and matrices that a statement names, without what it binds. */
function usedNames(s: Stmt): string[] {
  const fields = fieldsOf(s);
  return partsOf(s).form.flatMap((t) =>
    typeof t !== "string" && ["changes", "fills", "uses"].includes(t.role)
      ? (fields[t.field] as string | string[])
      : [],
  );
}
