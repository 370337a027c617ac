import {
  type Atom,
  anyInteger,
  bug,
  type Condition,
  type Dim,
  keyOfDim,
  maxOfDim,
  mentions,
  minOfDim,
  substitute,
  symbolOf,
  symbolsIn,
  type Term,
} from "@kiln-ml/ir";

import { simplifyConditions } from "../access.ts";
import type { Expr, Kernel, Stmt } from "../kernel/kernel.ts";
import { plainName } from "../kernel/names.ts";
import { changedBy, dependsOn, type Facts, factsOf } from "../kernel/uses.ts";
import { indexText } from "./index-text.ts";
import {
  forget,
  openScope,
  prec,
  type Scope,
  scopeAt,
  scopeOfDim,
  scopesFrom,
  setValue,
  type Text,
  unbind,
  type Value,
} from "./scope.ts";
import type { Call, Language, Load } from "./target-language.ts";

/** `V` is what expressions are printed as, `L` what a statement is. */
export class Emitter<V extends Value = Text, L = string> {
  readonly kernel: Kernel;
  readonly facts: Facts;
  readonly language: Language<V, L>;
  scope: Scope<V, L>;
  /** Conditions that hold wherever the statements being printed run. */
  readonly held: Set<Condition> = new Set();
  private readonly dims = new Map<string, V>();
  private readonly taken = new Set<string>();
  private readonly loopNames = new Set<string>();
  private readonly depths = new Map<Expr, number>();
  private readonly loads = new Map<string, Load>();
  private readonly depends = new Map<Expr, ReadonlySet<string>>();

  constructor(kernel: Kernel, language: Language<V, L>) {
    this.kernel = kernel;
    this.language = language;
    this.facts = factsOf(kernel);
    this.scope = openScope(undefined);
  }

  /** A name not used before in the kernel: `base` itself, or with a number. */
  fresh(wanted: string): string {
    const base = plainName(wanted);
    let name = base;
    for (let i = 0; this.taken.has(name) || this.language.reserved.has(name); i++)
      name = `${base}${/\d$/.test(base) ? "_" : ""}${i}`;
    this.taken.add(name);
    return name;
  }

  /** A name for a loop variable; loops side by side may share one. */
  loopName(wanted: string): string {
    const base = plainName(wanted);
    const open = [...scopesFrom(this.scope)].flatMap((s) => [...s.names.values()]);
    if (this.loopNames.has(base) && !open.some((t) => t.text === base)) return base;
    const name = this.fresh(base);
    this.loopNames.add(name);
    return name;
  }

  line(text: L): void {
    this.scope.lines.push(text);
  }

  /** Runs `print` in a block inside the present one and returns its lines. */
  inside(by: Stmt, print: (scope: Scope<V, L>) => void, options: { inline?: boolean } = {}): L[] {
    // What the body changes has changed by its second iteration.
    this.changed(by);
    const outer = this.scope;
    const inner = openScope(outer, {
      ...(options.inline ? { lines: outer.lines } : {}),
      changes: changedBy(by, this.facts),
      closed: by.kind === "if",
    });
    this.scope = inner;
    this.depths.clear();
    print(inner);
    this.scope = outer;
    this.depths.clear();
    return inner.lines;
  }

  /** Runs `print` as if the block at `depth` were the present one. */
  at<T>(depth: number, print: () => T): T {
    const here = this.scope;
    this.scope = scopeAt(here, depth);
    const result = print();
    this.scope = here;
    return result;
  }

  /** The text of a symbol, let or accumulator, and the block it is bound in. */
  find(name: string): { text: V; depth: number } {
    for (let s: Scope<V, L> | undefined = this.scope; s; s = s.parent) {
      const text = s.names.get(name);
      if (text) return { text, depth: s.depth };
    }
    return bug("emit", `${name} is not bound in kernel ${this.kernel.name}`);
  }

  /** The text of a symbol in an index expression: a dim of the program, or an index variable. */
  findSymbol(name: string): { text: V; depth: number } {
    const text = this.dims.get(name);
    return text ? { text, depth: 0 } : this.find(name);
  }

  /** Dims are apart from other names, since the program chose theirs. */
  bindDim(name: string, text: V): void {
    this.dims.set(name, text);
  }

  bindName(name: string, text: V): void {
    this.scope.names.set(name, text);
    this.depths.clear();
  }

  /**
   * Gives an index expression a name, in the outermost block in which it is known. In this block
   * the symbol stands for the expression, or for a symbol of its own: names that were made from
   * another binding of it keep their meaning.
   */
  bindIndex(name: string, value: Dim): void {
    const d = this.resolved(value);
    const symbol = this.at(this.depthOfDim(d), () => {
      const text = indexText(this, d);
      if (text.prec >= prec.unary || symbolOf(d)) return d;
      const bound = this.fresh(name);
      this.line(this.language.declare(bound, text, "index"));
      // Not a name that a statement can bind, so that nothing is ever put in its place.
      const own = `=${bound}`;
      this.bindName(own, this.language.named(bound, 1));
      return anyInteger(own, minOfDim(d), maxOfDim(d));
    });
    setValue(this.scope, name, symbol);
    this.depths.clear();
  }

  /** Forgets values that depend on names which the statement just printed has changed. */
  changed(s: Stmt): void {
    const names = changedBy(s, this.facts);
    if (names.size === 0) return;
    for (let scope: Scope<V, L> | undefined = this.scope; scope; scope = scope.parent)
      for (const bound of [scope.exprs, scope.dynamic])
        for (const e of bound.keys())
          for (const n of dependsOn(e, this.facts, this.depends)) if (names.has(n)) bound.delete(e);
  }

  /** Depth of the outermost open block in which the symbols of `d` are bound. */
  depthOfDim(d: Dim): number {
    if (typeof d === "number") return 0;
    let depth = 0;
    for (const t of d.terms) depth = Math.max(depth, this.depthOfTerm(t));
    return depth;
  }

  depthOfTerm({ atoms }: Term): number {
    let depth = 0;
    for (const a of atoms) depth = Math.max(depth, this.depthOfAtom(a));
    return depth;
  }

  depthOfAtom(a: Atom): number {
    if (a.kind === "symbol") return this.findSymbol(a.name).depth;
    return Math.max(this.depthOfDim(a.lhs), this.depthOfDim(a.rhs));
  }

  /** Depth of the outermost open block in which `e` has the value it has here. */
  depthOf(e: Expr): number {
    const known = this.depths.get(e);
    if (known !== undefined) return known;
    const depth = this.computeDepth(e);
    this.depths.set(e, depth);
    return depth;
  }

  private computeDepth(e: Expr): number {
    switch (e.kind) {
      case "const":
        return 0;
      case "index":
        return this.depthOfUse(e.value);
      case "test":
        return Math.max(0, ...e.conditions.map((c) => this.depthOfUse(c.value)));
      case "ref":
        return Math.max(this.find(e.name).depth, this.changedAt(e.name));
      case "call":
        return Math.max(0, ...e.args.map((a) => this.depthOf(a)));
      case "load": {
        const dims = [e.index, ...e.guard.map((c) => c.value)];
        return Math.max(this.changedAt(e.from), ...dims.map((d) => this.depthOfUse(d)));
      }
      default:
        return e satisfies never;
    }
  }

  /**
   * As depthOfDim, but no further out than the blocks that give its symbols values: expressions are
   * known by identity, which does not tell one repetition of an unrolled loop from the next.
   */
  depthOfUse(d: Dim): number {
    let depth = this.depthOfDim(this.resolved(d));
    for (const name of symbolsIn(d).keys())
      if (this.scope.values.has(name))
        for (let s: Scope<V, L> | undefined = this.scope; s; s = s.parent)
          if (s.values.has(name) && !s.parent?.values.has(name)) depth = Math.max(depth, s.depth);
    return depth;
  }

  /**
   * Depth of the innermost open block whose statement changes `name`; arrays also count where they
   * are bound.
   */
  private changedAt(name: string): number {
    for (let s: Scope<V, L> | undefined = this.scope; s; s = s.parent)
      if (s.changes.has(name) || s.names.has(name)) return s.depth;
    return 0;
  }

  /** `d` with the symbols replaced that stand for other index expressions. */
  resolved(d: Dim): Dim {
    if (!mentions(d, this.scope.values)) return d;
    // Once for all repetitions of the unrolled loops inside of which nothing of it changes.
    const { values, resolved } = scopeOfDim(this.scope, d);
    const known = resolved.get(d);
    if (known !== undefined) return known;
    let out: Dim = d;
    // A value may speak of a symbol that a deeper block has given a value itself.
    while (mentions(out, values)) {
      const next = substitute(out, values);
      if (next === out) break;
      out = next;
    }
    resolved.set(d, out);
    return out;
  }

  /**
   * The text of `e` here: a name if it is used again or computed further out, else its own text.
   */
  text(e: Expr): V {
    if (e.kind === "const") return this.language.constant(e.value, e.dtype);
    if (e.kind === "ref") return this.reference(e.name);
    // To its own dtype: to memory's digits, of which most targets have no more anyway.
    if (e.kind === "call" && e.op === "convert" && !this.language.holdsMore)
      if (e.args[0]!.dtype === e.dtype) return this.text(e.args[0]!);
    for (let s: Scope<V, L> | undefined = this.scope; s; s = s.parent) {
      const bound = s.exprs.get(e);
      if (bound) return bound;
    }
    if (e.kind === "index") return this.language.index(e.value);
    const depth = Math.max(this.depthOf(e), this.closedDepth());
    const outer = depth < this.scope.depth;
    if (!outer && (this.facts.uses.get(e) ?? 0) < 2) return this.raw(e);
    return this.bindExpr(e, depth);
  }

  /**
   * One expression for all loads of an element, so that it is bound to a name where it is first
   * used.
   */
  sharedLoad(l: Load): Load {
    const key = `${l.from}[${keyOfDim(l.index)}]`;
    const known = this.loads.get(key) ?? l;
    this.loads.set(key, known);
    (this.facts.uses as Map<Expr, number>).set(known, 2);
    return known;
  }

  private reference(name: string): V {
    const { text } = this.find(name);
    return this.facts.accs.has(name) ? this.language.accumulated(name, text) : text;
  }

  private closedDepth(): number {
    for (let s: Scope<V, L> | undefined = this.scope; s; s = s.parent) if (s.closed) return s.depth;
    return 0;
  }

  private raw(e: Expr): V {
    if (e.kind === "load") return this.language.load(e);
    if (e.kind === "call") {
      const taken = this.onlyBranch(e);
      return taken ? this.text(taken) : this.language.call(e);
    }
    if (e.kind === "test") return this.language.test(e.conditions);
    return bug("emit", `unexpected ${e.kind}`);
  }

  /** Conditions that may fail here, resolved. */
  open(conditions: readonly Condition[]): Condition[] {
    return conditions
      .filter((c) => !this.held.has(c))
      .map((c) => ({ test: c.test, value: this.resolved(c.value) }));
  }

  /**
   * What a select gives whose condition, as far as index names have values here, never holds or
   * always does.
   */
  private onlyBranch(e: Call): Expr | undefined {
    const [when, then, otherwise] = e.args;
    if (e.op !== "select" || when?.kind !== "test") return undefined;
    const values = this.open(when.conditions);
    const kept = simplifyConditions(values);
    if (!kept) return otherwise;
    return kept.length === 0 ? then : undefined;
  }

  private bindExpr(e: Expr, depth: number): V {
    return this.at(depth, () => {
      const value = this.raw(e);
      const name = this.fresh(e.kind === "load" ? `${e.from}At` : e.kind === "test" ? "ok" : "t");
      this.line(this.language.declare(name, value, e.dtype));
      const bound = this.language.named(name, value.lanes);
      this.scope.exprs.set(e, bound);
      return bound;
    });
  }

  /** Binds the let `name` in the outermost block where its value is the same. */
  bindLet(name: string, e: Expr): void {
    if (e.kind === "const") {
      this.bindAt(this.scope.depth, name, this.language.constant(e.value, e.dtype));
      return;
    }
    const depth = Math.max(this.depthOf(e), this.closedDepth());
    // The same let of another copy of a loop's body.
    const { exprs, names } = scopeAt(this.scope, depth);
    const known = exprs.get(e);
    if (known && names.get(name) === known) {
      this.bindAt(depth, name, known);
      return;
    }
    const text = this.at(depth, () => {
      const value = e.kind === "load" || e.kind === "call" ? this.valueOf(e) : this.text(e);
      const fresh = this.fresh(name);
      const bound = this.language.named(fresh, value.lanes);
      this.line(this.language.declare(fresh, value, e.dtype));
      return bound;
    });
    this.bindAt(depth, name, text);
    if (e.kind !== "ref") scopeAt(this.scope, depth).exprs.set(e, text);
  }

  /**
   * Binds an index that only the run tells in the outermost block where it is the same: what is
   * read there then moves out of a loop along it too. `asIndex` makes an index of a value.
   */
  bindDynamic(name: string, e: Expr, asIndex: (value: V) => V): void {
    const depth = Math.max(this.depthOf(e), this.closedDepth());
    const index = this.at(depth, () => {
      const { dynamic } = this.scope;
      const known = dynamic.get(e);
      if (known) return known;
      const value = asIndex(this.text(e));
      const fresh = this.fresh(name);
      this.line(this.language.declare(fresh, value, "index"));
      const bound = this.language.named(fresh, 1);
      dynamic.set(e, bound);
      return bound;
    });
    this.bindAt(depth, name, index);
  }

  /** Binds a name in the block at `depth`; what was made of another value of it is forgotten. */
  private bindAt(depth: number, name: string, value: V): void {
    if (unbind(this.scope, depth, name, value)) forget(this.scope, name);
    this.at(depth, () => this.bindName(name, value));
  }

  /** The text of `e` as the value of a name: already bound, or its own. */
  private valueOf(e: Expr): V {
    for (let s: Scope<V, L> | undefined = this.scope; s; s = s.parent) {
      const bound = s.exprs.get(e);
      if (bound) return bound;
    }
    return this.raw(e);
  }
}
