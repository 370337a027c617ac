/**
 * The structure of a group: everything that lowering looks at, as text in which tensors are numbers. Groups of one structure
 * become one kernel, bound to other tensors, so that fifty equal layers are lowered once. Knows no target.
 */
import { attrKey, type Condition, type Dim, keyOfDim, type Tensor } from "@kiln-ml/ir";
import { isLeaf, keyOfCoords } from "../access.ts";
import type { ContractionOperand, Group, Loop, Space } from "../fuse/group.ts";
import { nameOfBuffer } from "./buffers.ts";
import { type Job, membersOf } from "./job.ts";

export interface Structure {
  readonly key: string;
  /** The tensors by number. */
  readonly tensors: readonly Tensor[];
}

/** What is asked of a job. */
type Surroundings = Pick<Job, "group" | "stored" | "outside" | "storage">;

export function structureOf(job: Surroundings): Structure {
  const numbers = new Map<Tensor, number>();
  const parts: string[] = [];
  const number = (t: Tensor): number => {
    numbers.set(t, numbers.size);
    return numbers.size - 1;
  };
  const buffer = (t: Tensor): string => `${nameOfBuffer(t)} ${typeOf(t)}`;
  /** Where a node's value lies in memory. */
  const place = (t: Tensor): string => {
    const { tensor, offset } = job.storage(t);
    if (tensor === t) return "";
    const known = numbers.get(tensor) ?? number(tensor);
    return `in #${known} ${buffer(tensor)} at ${keyOfDim(offset)}`;
  };
  /** The node's number; the first mention writes down what it is. */
  const node = (t: Tensor): number => {
    const known = numbers.get(t);
    if (known !== undefined) return known;
    if (job.outside(t)) {
      const own = number(t);
      parts.push(`#${own}=${isLeaf(t) ? "leaf" : "read"} ${buffer(t)} ${place(t)}`);
      return own;
    }
    const operands = t.operands.map(node);
    const own = number(t);
    const kept = job.stored.has(t) ? `stored ${nameOfBuffer(t)} ${place(t)}` : "";
    parts.push(`#${own}=${t.op}(${operands})${attrKey(t.attrs)} ${typeOf(t)} ${kept}`);
    return own;
  };
  const operand = (o: ContractionOperand): string =>
    `#${node(o.operand)}[${keyOfCoords(o.coords)}]${o.when.map(conditionKey).join("&")}`;
  const group = (g: Group): void => {
    const { contraction: c } = g;
    parts.push(`${g.kind} ${loopsKey(g.outer)} ${loopsKey(g.inner)} ${g.axes}`);
    parts.push(`${spaceKey(g.outerSpace)} ${g.fullSpace ? spaceKey(g.fullSpace) : ""}`);
    for (const [t, p] of membersOf(g))
      parts.push(`member #${node(t)}[${keyOfCoords(p.coords)}] ${p.level}`);
    if (g.anchor) parts.push(`anchor #${node(g.anchor)}`);
    if (c) {
      parts.push([c.m, c.n, c.batch, c.k].map(loopsKey).join(" "));
      parts.push(operand(c.a), operand(c.b));
    }
    for (const s of g.sideSums) {
      parts.push(`side ${s.side} ${[...s.rename].map(([name, d]) => `${name}=${keyOfDim(d)}`)}`);
      group(s.group);
    }
    for (const s of g.scalars) {
      parts.push("beside");
      group(s);
    }
  };
  group(job.group);
  return { key: parts.join("\n"), tensors: [...numbers.keys()] };
}

const typeOf = (t: Tensor): string => `${t.dtype}[${keyOfCoords(t.shape)}]`;
const conditionKey = (c: Condition): string => `${c.test} ${keyOfDim(c.value)}`;
const dimsKey = (dims: readonly Dim[]): string => `[${keyOfCoords(dims)}]`;
const loopsKey = (loops: readonly Loop[]): string =>
  `{${loops.map((l) => `${l.name}<${keyOfDim(l.extent)}`)}}`;
const spaceKey = (s: Space): string => `${dimsKey(s.shape)}@${dimsKey(s.coords)}`;
