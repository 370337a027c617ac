/**
 * Groups as text, one line a kernel in the order they run, with nodes named as `printGraph` names
 * them. For people and golden tests; nothing reads it back.
 *
 *   2 matmul_relu: contraction over batch [] m [i:8] n [j:4] k [k:16]; %3 dotGeneral, %4 maximum; reads %x %w; stores %4
 */
import { printDim, type Tensor, topologicalOrder } from "@kiln-ml/ir";
import { isLeaf } from "../access.ts";
import type { ComputeAt, Group, Loop } from "../fuse/group.ts";
import type { Param } from "../kernel/kernel.ts";
import { plainName } from "../kernel/names.ts";
import type { Lowered } from "../lower/lower.ts";
import { leavesOf, type Program, rootsOf } from "../program.ts";

/** The groups behind `kernels`, which were lowered from `program`. */
export function printGroups(program: Program, kernels: readonly Lowered[]): string {
  const names = nodeNames(program);
  return kernels.map((k, i) => `${i} ${k.kernel.name}: ${lineOf(k, names)}\n`).join("");
}

type Names = ReadonlyMap<Tensor, string>;

/** The names that `printGraph` gives the nodes of an inlined program. */
export function nodeNames(program: Program): Names {
  const names = new Map<Tensor, string>();
  const used = new Set<string>();
  for (const t of leavesOf(program)) {
    const stem = String(t.attrs.name ?? "data").replace(/[^\w.]/g, "_");
    let name = stem.replace(/^(?=\d)|^$/, "_");
    for (let i = 1; used.has(name); i++) name = `${stem}.${i}`;
    used.add(name);
    names.set(t, `%${name}`);
  }
  const roots = [...rootsOf(program), ...program.updates.map(([param]) => param)];
  const inner = topologicalOrder(roots).filter((t) => !isLeaf(t));
  for (const [i, t] of inner.entries()) names.set(t, `%${i + 1}`);
  return names;
}

function lineOf({ group, kernel, tensors }: Lowered, names: Names): string {
  const bound = (...access: Param["access"][]) =>
    tensors.flatMap((t, i) =>
      t && access.includes(kernel.params[i]!.access) ? [names.get(t) ?? t.op] : [],
    );
  const scratch = kernel.params.filter((p) => p.access === "scratch").map((p) => plainName(p.name));
  const beside = [
    ...group.operandReductions.map((s) => `beside operand ${s.operand} ${members(s.group, names)}`),
    ...group.guests.map((g) => `beside ${members(g, names)}`),
  ];
  const parts = [
    [group.kind, loopsOf(group)].filter(Boolean).join(" "),
    members(group, names),
    ...beside,
    `reads ${bound("read").join(" ") || "nothing"}`,
    `stores ${bound("write", "readwrite").join(" ")}`,
    ...(scratch.length ? [`scratch ${scratch.join(" ")}`] : []),
  ];
  return parts.join("; ");
}

/** `m [i:64] n [j:10] k [k:784]`; empty where there are none. */
export function loopsOf(group: Group): string {
  const axes = group.contraction ?? { over: group.outer, inner: group.inner };
  const lists: [string, readonly Loop[]][] = [];
  for (const name of ["over", "inner", "batch", "m", "n", "k"])
    if (name in axes) lists.push([name, (axes as Record<string, readonly Loop[]>)[name]!]);
  return lists
    .filter(([, loops]) => loops.length)
    .map(([name, loops]) => `${name} [${loops.map(loopText).join(" ")}]`)
    .join(" ");
}

const loopText = ({ name, extent }: Loop): string => `${plainName(name)}:${printDim(extent)}`;

/** Members with the level they are computed at, where it is not the anchor's own. */
function members(group: Group, names: Names): string {
  const text = ([t, { level }]: [Tensor, ComputeAt]) =>
    `${names.get(t)} ${t.op}${level === "outer" ? "" : ` (${level})`}`;
  return [...group.members].map(text).join(", ");
}
