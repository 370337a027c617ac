/**
 * The node: one operation of a graph, and at once the `Tensor` a user holds. Immutable and
 * interned: building the same node twice gives the same object. Shapes and dtypes are checked by
 * the op records before a node is made, so that the stack trace is the user's. Methods (`x.add(y)`)
 * are installed by `methods.ts`.
 */
import { claimIndices, claimOf } from "./claim.ts";
import { DimExpr, keyOfDim } from "./dim.ts";
import type { Dtype } from "./dtype.ts";
import { GraphError } from "./errors.ts";
import type { Methods } from "./methods.ts";
import { currentScope, type Scope } from "./scope.ts";
import { printShape, type Shape } from "./shape.ts";
import { captureTrace, type Trace } from "./site.ts";

export type AttrValue =
  | number
  | string
  | boolean
  | DimExpr
  | readonly AttrValue[]
  | { readonly [key: string]: AttrValue };
export type Attrs = Readonly<Record<string, AttrValue>>;

/** A function from parameters to results, held by a node (control flow) or compiled as a whole. */
export interface Graph {
  readonly params: readonly Tensor[];
  readonly results: readonly Tensor[];
}

/** The type of one result of a node that has several. */
export interface ResultType {
  readonly dtype: Dtype;
  readonly shape: Shape;
}

export interface NodeParts {
  readonly op: string;
  readonly operands: readonly Tensor[];
  readonly attrs: Attrs;
  readonly dtype: Dtype;
  readonly shape: Shape;
  readonly regions?: readonly Graph[];
  /** Types of all results when there are several; read through the op `result`. */
  readonly results?: readonly ResultType[];
  /** False where the place in the program that builds it tells nobody anything. Default true. */
  readonly traced?: boolean;
}

let nextId = 0;

/** The highest id so far: nodes that are made later have higher ones. */
export const lastNodeId = (): number => nextId - 1;

/** The node in whose place nodes are being made. */
let replaced: Tensor | undefined;

/**
 * Runs `make`, whose nodes stand in the place of `node`: the user built them where that one was
 * built.
 */
export function inPlaceOf<T>(node: Tensor, make: () => T): T {
  const before = replaced;
  replaced = node;
  try {
    return make();
  } finally {
    replaced = before;
  }
}

export interface Tensor extends Methods {}

/**
 * A node of a graph: what is to be computed, with a dtype and a shape. Nothing runs until a value
 * is asked for, by `data()`, `item()` or `toList()`; functions of tensors are methods too.
 * `torch.Tensor`.
 *
 * @param parts Op, operands, attributes, dtype and shape. Programs call functions instead.
 * @example
 *   const x = tensor([[1, 2], [3, 4]]);
 *   x.shape // [2, 2]
 *   x.dtype // "f32"
 *   x.sum() instanceof Tensor // true; a node, not yet a number
 *   await x.sum().item() // 10
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: methods.ts installs every one of them.
export class Tensor {
  readonly id: number;
  readonly op: string;
  readonly operands: readonly Tensor[];
  readonly attrs: Attrs;
  readonly dtype: Dtype;
  readonly shape: Shape;
  readonly regions: readonly Graph[];
  readonly results: readonly ResultType[] | undefined;
  readonly #trace: Trace | undefined;
  readonly #scope: Scope | undefined;

  constructor(parts: NodeParts) {
    this.id = nextId++;
    this.op = parts.op;
    this.operands = parts.operands;
    this.attrs = parts.attrs;
    this.dtype = parts.dtype;
    this.shape = parts.shape;
    this.regions = parts.regions ?? [];
    this.results = parts.results;
    const { traced = true } = parts;
    this.#trace = replaced ? replaced.#trace : traced ? captureTrace() : undefined;
    this.#scope = replaced ? replaced.#scope : currentScope();
  }

  /** Where in the user's program it was built, `file.ts:12:5`. Not part of its identity. */
  get site(): string | undefined {
    return this.#trace?.site;
  }

  /** In whose course it was made first, such as a layer's. Not part of its identity. */
  get scope(): Scope | undefined {
    return this.#scope;
  }

  get rank(): number {
    return this.shape.length;
  }

  toString(): string {
    return `Tensor ${this.dtype}${printShape(this.shape)} (${this.op})`;
  }

  /**
   * Its text where a string is wanted. Operators and functions of JavaScript would take NaN for its
   * value, and a comparison false, so there it throws GraphError.
   */
  [Symbol.toPrimitive](hint: string): string {
    if (hint === "string") return this.toString();
    const { op, attrs } = this;
    const name = op === "input" || op === "param" ? `${op} ${attrs.name}` : op;
    const fixed = op === "input" ? "asStatic(n) in the call for a number, " : "";
    throw new GraphError(
      `tensor: ${this.dtype}${printShape(this.shape)} (${name}) is used as a number of JavaScript, which it has none of here\n  use ${fixed}x.mul(y), x.greater(y), where(c, x, y), scan for loops, or await x.item() outside of functions`,
    );
  }
}

const interned = new Map<string, WeakRef<Tensor>>();
const forget = new FinalizationRegistry<string>((key) => {
  if (!interned.get(key)?.deref()) interned.delete(key);
});

const recorders: Set<Tensor>[] = [];

/** Runs `make` and says which nodes it asked for, those that existed already included. */
export function recordNodes<T>(make: () => T): { value: T; made: ReadonlySet<Tensor> } {
  const made = startRecording();
  try {
    return { value: make(), made };
  } finally {
    stopRecording();
  }
}

/** Begins a record of the nodes that are asked for; those begun later end earlier. */
export function startRecording(): ReadonlySet<Tensor> {
  const made = new Set<Tensor>();
  recorders.push(made);
  return made;
}

/** Ends the record that was begun last. */
export function stopRecording(): void {
  recorders.pop();
}

function recorded(node: Tensor): Tensor {
  for (const made of recorders) made.add(node);
  return node;
}

/** The node with these parts; an equal one that is still alive is returned instead of a new one. */
export function makeNode(parts: NodeParts): Tensor {
  const key = keyOf(parts);
  const found = interned.get(key)?.deref();
  if (found) return recorded(found);
  const node = new Tensor(parts);
  interned.set(key, new WeakRef(node));
  forget.register(node, key);
  return recorded(node);
}

/** A node that is equal to no other: inputs, parameters, data. */
export const makeUnique = (parts: NodeParts): Tensor => recorded(new Tensor(parts));

/** As printed, but with the ranges of symbols. */
const shapeKey = (shape: Shape): string => `[${shape.map(keyOfDim)}]`;

/** Asked for each node that is made, eager ones too: in loops, since lists of texts are garbage. */
function keyOf({ op, operands, attrs, dtype, shape, regions }: NodeParts): string {
  let key = op;
  for (const t of operands) key += `,${t.id}`;
  key += attrKey(attrs) + dtype;
  for (const d of shape) key += `,${keyOfDim(d)}`;
  return regions?.length ? `${key}${regions.map(regionKey)}` : key;
}

const regionKeys = new WeakMap<Graph, string>();

/** The same text for graphs that differ only in which nodes their parameters are. */
function regionKey(graph: Graph): string {
  const known = regionKeys.get(graph);
  if (known !== undefined) return known;
  const local = new Map<Tensor, string>();
  for (const p of graph.params) local.set(p, `%${local.size}`);
  const text = graph.params.map((p) => `${p.dtype}${shapeKey(p.shape)}`);
  const nameOf = (t: Tensor) => local.get(t) ?? String(t.id);
  for (const t of topologicalOrder(graph.results)) {
    if (local.has(t) || !t.operands.some((o) => local.has(o))) continue;
    const regions = t.regions.map(regionKey);
    text.push(
      `${t.op}(${t.operands.map(nameOf)})${attrKey(t.attrs)}${t.dtype}${shapeKey(t.shape)}${regions}`,
    );
    local.set(t, `%${local.size}`);
  }
  const key = `{${text.join(";")}:${graph.results.map(nameOf)}}`;
  regionKeys.set(graph, key);
  return key;
}

/** Canonical text of attributes; also distinguishes −0 and NaN. */
export function attrKey(value: AttrValue): string {
  if (value instanceof DimExpr) return keyOfDim(value);
  if (Array.isArray(value)) return `[${value.map(attrKey).join(",")}]`;
  if (typeof value === "object") {
    const names = Object.keys(value);
    if (names.length > 1) names.sort();
    let key = "";
    for (const k of names) key += `${key && ","}${k}:${attrKey((value as Attrs)[k]!)}`;
    return `{${key}}`;
  }
  if (typeof value === "string") return JSON.stringify(value);
  return Object.is(value, -0) ? "-0" : String(value);
}

/**
 * Operands before users, each node once. Regions are not entered, nor what lies behind a node where
 * `leaf` holds.
 */
export function topologicalOrder(
  roots: readonly Tensor[],
  leaf: (t: Tensor) => boolean = () => false,
): Tensor[] {
  const order: Tensor[] = [];
  const state = new Set<Tensor>();
  const stack: Tensor[] = [];
  /** Of each node on the stack, the operand to look at next. */
  const at: number[] = [];
  const enter = (t: Tensor): void => {
    if (state.has(t)) return;
    state.add(t);
    stack.push(t);
    at.push(0);
  };
  for (const root of roots) {
    enter(root);
    while (stack.length) {
      const top = stack.length - 1;
      const node = stack[top]!;
      const next = leaf(node) ? undefined : node.operands[at[top]!++];
      if (next) enter(next);
      else {
        order.push(node);
        stack.pop();
        at.pop();
      }
    }
  }
  return order;
}

/** Rebuilds a node with other operands, in its place; the same node if none changed. */
export function withOperands(node: Tensor, operands: readonly Tensor[]): Tensor {
  if (operands.every((t, i) => t === node.operands[i])) return node;
  const { op, attrs, dtype, shape, regions, results } = node;
  const several = results ? { results } : {};
  const parts = { op, operands, attrs, dtype, shape, regions, ...several };
  const made = inPlaceOf(node, () => makeNode(parts));
  const claim = claimOf(node);
  return claim ? claimIndices(made, claim) : made;
}
