/**
 * The record of assignments to parameters while a program is defined. A read of a parameter after
 * an assignment sees the assigned value, so the program keeps the order in which it was written.
 */
import { DtypeError, GraphError, ShapeError } from "./errors.ts";
import { kindOf } from "./kind.ts";
import { makeNode, Tensor } from "./node.ts";
import { printShape, sameShape } from "./shape.ts";

/** New values of parameters, in the order of their first assignment. */
export type Updates = Map<Tensor, Tensor>;

const stack: Updates[] = [new Map()];

/**
 * Runs `define` with an empty record and returns what it assigned. `torch.fx.symbolic_trace`.
 * @example
 *   const w = param([1, 2]);
 *   const { updates } = trace(() => assign(w, w.add(1)));
 *   updates.get(w) // [2, 3]; what the program would store
 */
export function trace<T>(define: () => T): { value: T; updates: Updates } {
  const updates: Updates = new Map();
  stack.push(updates);
  try {
    return { value: define(), updates };
  } finally {
    stack.pop();
  }
}

/**
 * Assignments made outside any `trace`; the front door runs and clears them with the next read of
 * data.
 */
export const ambientUpdates = (): Updates => stack[0]!;

/** True while a `trace` runs. */
export const isTracing = (): boolean => stack.length > 1;

/**
 * Sets the value that parameter `target` holds from here on: `value` as it stands here, a parameter
 * being read like anywhere else. `torch.Tensor.copy_` of a parameter.
 *
 * Throws ShapeError or DtypeError unless shape and dtype are those of the parameter. Outside of a
 * trace a value that reads an input is one that no run will have: GraphError. Layers that keep
 * something of a batch, such as running statistics, then ask `isKept` and leave it out.
 *
 * @example
 *   const count = param([0], { trainable: false });
 *   const tick = compile(() => { assign(count, count.add(1)); return count; });
 *   await tick();
 *   await tick() // [2]
 */
export function assign(target: Tensor, value: Tensor): void {
  for (const t of [target, value])
    if (!(t instanceof Tensor))
      throw new DtypeError(`assign: takes a parameter and a tensor, got ${kindOf(t)}`);
  if (target.op !== "param")
    throw new GraphError(
      `assign: target is ${target.op}, not a parameter\n  make it with param(…), or return the value instead`,
    );
  if (!sameShape(target.shape, value.shape))
    throw new ShapeError(
      `assign: shapes differ: ${String(target.attrs.name)} is ${printShape(target.shape)}, value is ${printShape(value.shape)}\n  reshape or broadcastTo the value to the shape of the parameter`,
    );
  if (target.dtype !== value.dtype)
    throw new DtypeError(
      `assign: dtypes differ: ${String(target.attrs.name)} is ${target.dtype}, value is ${value.dtype}\n  convert the value to the dtype of the parameter`,
    );
  if (!isKept(value)) refuseUpdate(target);
  stack[stack.length - 1]!.set(target, heldValue(value));
}

/**
 * Whether an assignment of this value is recorded. Outside of a trace nothing will ever run with a
 * value for an input: what layers keep of a batch (running statistics) then stays as it is, as
 * where a program is traced and dropped.
 */
export const isKept = (value: Tensor): boolean => isTracing() || !readsInput(value);

/** Whether values stand for what a program is given; of nodes that were asked about. */
const reads = new WeakMap<Tensor, boolean>();

function readsInput(value: Tensor): boolean {
  const waiting = [value];
  while (waiting.length) {
    const t = waiting.at(-1)!;
    const open = reads.has(t) ? [] : t.operands.filter((x) => !reads.has(x));
    waiting.push(...open);
    if (open.length) continue;
    waiting.pop();
    if (!reads.has(t)) reads.set(t, t.op === "input" || t.operands.some((x) => reads.get(x)));
  }
  return reads.get(value)!;
}

/** An update was meant, of which nothing would come. */
function refuseUpdate(target: Tensor): never {
  const remedy = target.attrs.trainable
    ? "take the step within the function that compile is given, or compute the loss of data"
    : "assign within the function that compile is given, or compute the value of data";
  throw new GraphError(
    `assign: the new value of ${String(target.attrs.name)} reads an input, which has a value only while a compiled function runs\n  ${remedy}`,
  );
}

let raw = false;

/**
 * Runs `define` with parameters read as themselves. For transforms of graph that is already built:
 * there a parameter stands for the value it had when the graph was built, whatever was assigned
 * since.
 */
export function ignoringAssignments<T>(define: () => T): T {
  const before = raw;
  raw = true;
  try {
    return define();
  } finally {
    raw = before;
  }
}

/** What a read of `t` means here: the assigned value if it is a parameter that was assigned. */
export function currentValue(t: Tensor): Tensor {
  if (raw || t.op !== "param") return t;
  for (let i = stack.length - 1; i >= 0; i--) {
    const value = stack[i]!.get(t);
    if (value) return value;
  }
  return t;
}

/**
 * `currentValue`, to be kept: where that is a parameter itself, a node that stays what the
 * parameter holds here, whatever is assigned to it later. What a record of assignments holds, and
 * what an op returns that has nothing to do, are such.
 */
export function heldValue(t: Tensor): Tensor {
  const value = currentValue(t);
  if (raw || value.op !== "param") return value;
  const { dtype, shape } = value;
  return makeNode({ op: "reshape", operands: [value], attrs: {}, dtype, shape });
}
