/**
 * Builds the scalar expression of a node's element at given coordinates, through everything that is
 * inlined, down to loads of stored tensors and to results that the kernel has at hand. Adds to the
 * current block the run-time indices that gathers need. Makes no loops.
 */
import {
  addDim,
  type Condition,
  type Dim,
  type Dtype,
  isElementwise,
  isFloat,
  isMovement,
  loopVar,
  negDim,
  offsetOf,
  opOf,
  opRecord,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { keyOfCoords, livePieces, simplifyConditions } from "../access.ts";
import { isBelow } from "../kernel/conditions.ts";
import { call, constant, load, ref } from "../kernel/expr.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { indexName } from "../kernel/names.ts";
import { texts } from "../sizes.ts";
import { isNonPositive } from "./bounds.ts";
import { threefry } from "./threefry.ts";

/**
 * The dtype in which intermediate values are kept where nothing is lost by it and memory does not
 * matter.
 */
export const doubled = (dtype: Dtype): Dtype => (isFloat(dtype) ? "f64" : dtype);

/**
 * The dtype in which sums and products are kept until they are whole: those of halves are f32, and
 * rounded once.
 */
export const sumDtype = (dtype: Dtype): Dtype =>
  dtype === "f16" || dtype === "bf16" ? "f32" : dtype;

/** `e` in a dtype. */
export const inDtype = (e: Expr, dtype: Dtype): Expr =>
  e.dtype === dtype ? e : call("convert", dtype, e);

/** How deep expressions are; absent for those without parts. */
const depths = new WeakMap<Expr, number>();
/** How many elements are being made, each for the one before. */
let asked = 0;

/**
 * What a kernel knows of tensors: the buffer that holds one and where it starts, or undefined if it
 * is inlined.
 */
export type BufferOf = (t: Tensor) => { name: string; offset: Dim } | undefined;

/** Of coordinates and a guard, for the keys of values. */
const keyOfPlace = (coords: readonly Dim[], guard: readonly Condition[]): string =>
  `@${keyOfCoords(coords)}|${guard.map((c) => c.test[0] + String(c.value)).join("&")}`;

/**
 * Expressions within one block of statements; `inner` opens a nested block that sees what this one
 * has.
 */
export class Values {
  readonly bufferOf: BufferOf;
  /** Whether memory has the values of a node. */
  readonly isShown: (t: Tensor) => boolean;
  readonly body: Stmt[];
  /** Keys of the costly values made in this block. */
  readonly costly = new Set<string>();
  /** Keys of the unconditional loads made in this block. */
  readonly loaded = new Set<string>();
  private readonly outer: Values | undefined;
  private readonly known = new Map<string, Expr>();
  private readonly bound = new Map<Tensor, Expr>();

  constructor(bufferOf: BufferOf, isShown: (t: Tensor) => boolean, outer?: Values) {
    this.bufferOf = bufferOf;
    this.isShown = isShown;
    this.outer = outer;
    this.body = [];
  }

  inner(): Values {
    return new Values(this.bufferOf, this.isShown, this);
  }

  /**
   * From here on the element of `node` is `value`. Fusion has seen, in the loops' own names, that a
   * kernel asks for one place of what it computes; what the schedule puts for those names may spell
   * that place in several ways.
   */
  bind(node: Tensor, value: Expr): void {
    // What is not computed here, but may hold more digits than memory does.
    const kept = value.kind === "ref" && this.isKept(node);
    this.bound.set(node, kept ? { ...call("convert", "f32", value), stored: true } : value);
  }

  /** Whether memory has fewer digits than a target may keep of a node that it shows. */
  private isKept(node: Tensor): boolean {
    return node.dtype === "f32" && this.isShown(node);
  }

  private find(node: Tensor, key: string): Expr | undefined {
    return this.bound.get(node) ?? this.known.get(key) ?? this.outer?.find(node, key);
  }

  /** The element of `node` at `coords`; loads happen only where `guard` holds. */
  at(node: Tensor, coords: readonly Dim[], guard: readonly Condition[] = []): Expr {
    const where = keyOfPlace(coords, guard);
    const key = node.id + where;
    const found = this.find(node, key);
    if (found) return found;
    asked++;
    if (asked > texts.deepest) this.makeBelow(node, coords, guard, where);
    const made = this.make(node, coords, guard);
    asked--;
    // A node has one value: what others in the kernel make of it, they make of what is stored.
    const kept = made.kind === "call" && this.isKept(node);
    const value: Expr = kept ? { ...made, stored: true } : made;
    this.known.set(key, value);
    if (value.kind === "call" && guard.length === 0 && opRecord(node.op).costly)
      this.costly.add(key);
    if (value.kind === "load" && guard.length === 0 && this.bufferOf(node)) this.loaded.add(key);
    return value;
  }

  /** Makes what lies far below an element first, as long as it is of the same coordinates. */
  private makeBelow(
    node: Tensor,
    coords: readonly Dim[],
    guard: readonly Condition[],
    where: string,
  ): void {
    const isMissing = (t: Tensor): boolean =>
      isElementwise(t) && !this.bufferOf(t) && !this.find(t, t.id + where);
    const entered = new Set<Tensor>();
    const stack = [node];
    for (let t = stack.at(-1); t; t = stack.at(-1)) {
      const height = stack.length;
      if (!entered.has(t))
        for (const o of [...t.operands].reverse()) if (isMissing(o)) stack.push(o);
      entered.add(t);
      if (stack.length > height) continue;
      stack.pop();
      if (t !== node) this.at(t, coords, guard);
    }
  }

  /** The value, or a name for it where it is deep. */
  private shallow(value: Expr): Expr {
    if (value.kind !== "call") return value;
    let depth = 0;
    for (const a of value.args) depth = Math.max(depth, depths.get(a) ?? 0);
    depths.set(value, depth + 1);
    if (depth < texts.deepest) return value;
    const name = `deep${nextName++}`;
    this.body.push({ kind: "let", name, value });
    return ref(name, value.dtype);
  }

  /** The value that was made for a key. */
  valueOf(key: string): Expr {
    return this.known.get(key)!;
  }

  /** From here on the value for a key is this one. */
  know(key: string, value: Expr): void {
    this.known.set(key, value);
  }

  private make(node: Tensor, coords: readonly Dim[], guard: readonly Condition[]): Expr {
    const buffer = this.bufferOf(node);
    if (buffer !== undefined) {
      const index = addDim(offsetOf(node.shape, coords), buffer.offset);
      return load(buffer.name, node.dtype, index, guard);
    }
    switch (node.op) {
      case "constant":
        return constant(node.dtype, opOf(node, "constant").attrs.value);
      case "iota":
        return fromIndex(coords[opOf(node, "iota").attrs.axis]!, node.dtype);
      case "gather":
        return this.gather(node, coords, guard);
      case "stopGradient":
        return this.at(node.operands[0]!, coords, guard);
      case "after":
        // Waited for, as the kernel counts it as read, but not loaded.
        this.at(node.operands[1]!, coords, guard);
        return this.at(node.operands[0]!, coords, guard);
      case "randomBits": {
        const key = node.operands[0]!;
        const [k0, k1] = [this.at(key, [0], guard), this.at(key, [1], guard)];
        return threefry(k0, k1, fromIndex(offsetOf(node.shape, coords), "u32"));
      }
    }
    if (isMovement(node)) return this.move(node, coords, guard);
    const args = node.operands.map((o) => this.at(o, coords, guard));
    const value = call(node.op, node.dtype, ...args);
    if (node.op !== "exp" || !isNonPositive(node.operands[0]!)) return this.shallow(value);
    return this.shallow({ ...value, nonPositive: true });
  }

  /**
   * The first piece whose conditions hold; each is loaded only where they do and no earlier piece
   * counts.
   */
  private move(node: Tensor, coords: readonly Dim[], guard: readonly Condition[]): Expr {
    const made: { when: readonly Condition[]; value: Expr }[] = [];
    let left = guard;
    for (const p of livePieces(node, coords)) {
      const value = this.at(node.operands[p.operand]!, p.coords, mergeGuards(left, p.when));
      made.push({ when: p.when, value });
      const [only] = p.when;
      if (p.when.length === 1 && only!.test === "nonnegative")
        left = mergeGuards(left, [{ ...only!, value: subDim(negDim(only!.value), 1) }]);
    }
    let value = made.at(-1)?.value;
    for (const m of made.slice(0, -1).reverse())
      value = this.shallow(choose(m.when, m.value, value!));
    const last = made.at(-1)?.when;
    if (value && made.length === 1 && last!.length)
      return choose(last!, value, constant(node.dtype, 0));
    return value ?? constant(node.dtype, 0);
  }

  /** Indices out of range are clamped, as the op says; an axis without elements gives 0. */
  private gather(node: Tensor, coords: readonly Dim[], guard: readonly Condition[]): Expr {
    const [x, ...indices] = node.operands;
    const rank = indices[0]!.shape.length;
    const { axes } = opOf(node, "gather").attrs;
    const zero = constant(node.dtype, 0);
    const occupied = simplifyConditions(axes.map((axis) => isBelow(0, x!.shape[axis]!)));
    if (!occupied) return zero;
    let rest = rank;
    const at = x!.shape.map((extent, axis) => {
      const which = axes.indexOf(axis);
      if (which < 0) return coords[rest++]!;
      const index = this.at(indices[which]!, coords.slice(0, rank), guard);
      return this.dynamic(clamped(index, extent), extent);
    });
    return choose(occupied, this.at(x!, at, mergeGuards(guard, occupied)), zero);
  }

  private dynamic(value: Expr, extent: Dim): Dim {
    const name = indexName(`at${nextName++}`);
    this.body.push({ kind: "letDynamic", name, value });
    return loopVar(name, extent);
  }
}

/** Tells names apart while a kernel is made; `countedNames` gives them their numbers. */
let nextName = 0;
/** Before each kernel. */
export const resetNames = (): void => {
  asked = 0;
  nextName = 0;
};

export const fromIndex = (value: Dim, dtype: Dtype): Expr => {
  if (typeof value === "number") return constant(dtype, value);
  const index: Expr = { kind: "index", value, dtype: "i32" };
  return dtype === "i32" ? index : call("convert", dtype, index);
};

function clamped(index: Expr, extent: Dim): Expr {
  if (index.dtype === "u32")
    // As i32, what lies above its range would be negative.
    return call(
      "convert",
      "i32",
      call("minimum", "u32", index, fromIndex(subDim(extent, 1), "u32")),
    );
  const i = index.dtype === "i32" ? index : call("convert", "i32", index);
  const low = call("maximum", "i32", i, constant("i32", 0));
  return call("minimum", "i32", low, fromIndex(subDim(extent, 1), "i32"));
}

/**
 * Both, without those that others imply: pieces of a concatenation exclude all pieces before them.
 */
export function mergeGuards(a: readonly Condition[], b: readonly Condition[]): Condition[] {
  const fresh = b.filter((c) => !a.some((d) => implies(d, c)));
  return [...a.filter((d) => !fresh.some((c) => implies(c, d))), ...fresh];
}

function implies(a: Condition, b: Condition): boolean {
  if (a.test !== b.test) return false;
  const more = subDim(b.value, a.value);
  return more === 0 || (a.test === "nonnegative" && typeof more === "number" && more > 0);
}

/** `when` ? yes : no; a guarded load is already 0 where its guard fails. */
export function choose(when: readonly Condition[], yes: Expr, no: Expr): Expr {
  const conditions = simplifyConditions(when);
  if (conditions === undefined) return no;
  if (conditions.length === 0) return yes;
  const zero = no.kind === "const" && Object.is(no.value, 0);
  if (zero && yes.kind === "load") {
    if (conditions.every((c) => yes.guard.some((g) => implies(g, c)))) return yes;
  }
  const test: Expr = { kind: "test", conditions, dtype: "bool" };
  return call("select", yes.dtype, test, yes, no);
}
