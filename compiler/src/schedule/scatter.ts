/**
 * Lowers a scatter: the target is copied, then the updates are combined into it in row-major order of the index positions, which
 * makes the result independent of the machine; then what follows is computed. An update whose index is out of
 * range is dropped.
 */
import {
  addDim,
  anyInteger,
  type Condition,
  type Dim,
  offsetOf,
  subDim,
  type Tensor,
} from "@kiln-ml/ir";
import { type Loop, makeLoop } from "../fuse/group.ts";
import type { Expr, Stmt } from "../kernel/kernel.ts";
import { indexName } from "../kernel/names.ts";
import { type Job, membersOf, openBlock, storeMember } from "../lower/job.ts";
import { nest } from "../lower/loops.ts";
import { call, load } from "../lower/value.ts";

/** The three runs of a scatter, and the loops over coordinates that are not indexed ("rest"). */
export interface ScatterParts {
  readonly rest: readonly Loop[];
  /** Statements per rest coordinate: copying, combining, finishing. */
  readonly copy: Stmt[];
  readonly combine: Stmt[];
  readonly finish: Stmt[];
  readonly indexed: readonly Loop[];
  readonly positions: readonly Loop[];
}

export function scatterParts(job: Job): ScatterParts {
  const node = job.group.anchor!;
  const [x, updates, ...indices] = node.operands as [Tensor, Tensor, ...Tensor[]];
  const axes = node.attrs.axes as readonly number[];
  const outer = job.group.outer;
  const rest = outer.filter((_, axis) => !axes.includes(axis));
  const indexed = outer.filter((_, axis) => axes.includes(axis));
  const positions = indices[0]!.shape.map((d, i) => makeLoop(`s${i}`, d));
  const storage = job.storage(node);
  job.writes.add(node);
  const to = job.buffers.write(storage.tensor);
  const here = addDim(
    offsetOf(
      node.shape,
      outer.map((l) => l.at),
    ),
    storage.offset,
  );
  const first = openBlock(job);
  first.body.push({
    kind: "store",
    to,
    index: here,
    value: first.at(
      x,
      outer.map((l) => l.at),
    ),
  });
  const combine = openBlock(job);
  const at = positions.map((l) => l.at);
  const inRange: Condition[] = [];
  const place = node.shape.map((extent, axis): Dim => {
    const which = axes.indexOf(axis);
    if (which < 0) return outer[axis]!.at;
    const name = indexName(`to${axis}`);
    const index = combine.at(indices[which]!, at);
    const value = index.dtype === "i32" ? index : call("convert", "i32", index);
    combine.body.push({ kind: "letDynamic", name, value });
    // Nothing is known of its range before it is tested.
    const raw = anyInteger(name);
    inRange.push({ value: raw, test: "nonnegative" });
    inRange.push({ value: subDim(subDim(extent, 1), raw), test: "nonnegative" });
    return raw;
  });
  const target = addDim(offsetOf(node.shape, place), storage.offset);
  const update = combine.at(updates, [...at, ...rest.map((l) => l.at)]);
  const value = combined(node, load(to, node.dtype, target), update);
  combine.body.push({
    kind: "if",
    when: inRange,
    then: [{ kind: "store", to, index: target, value }],
  });
  const finish = openBlock(job);
  finish.bind(node, load(to, node.dtype, here));
  for (const [member] of membersOf(job.group))
    if (member !== node && job.stored.has(member))
      finish.body.push(storeMember(job, finish, member, new Map()));
  return { rest, copy: first.body, combine: combine.body, finish: finish.body, indexed, positions };
}

function combined(node: Tensor, before: Expr, update: Expr): Expr {
  const mode = node.attrs.mode as "add" | "mul" | "max" | "min" | "set";
  if (mode === "set") return update;
  const op = { add: "add", mul: "mul", max: "maximum", min: "minimum" }[mode];
  return call(op, node.dtype, before, update);
}

/** One thread: positions outside, so that memory is walked in order. */
export function serialScatter(job: Job): Stmt[] {
  const p = scatterParts(job);
  const finish = p.finish.length ? nest(job.group.outer, "serial", p.finish) : [];
  return [
    ...nest(job.group.outer, "serial", p.copy),
    ...nest([...p.positions, ...p.rest], "serial", p.combine),
    ...finish,
  ];
}
