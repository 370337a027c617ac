/** The kernels of an inspection, one for each step of the plan: what they compute, and why each is not one with what it reads. */
import { type Artifact, evaluateExtent, timesOf } from "@kiln-ml/artifact";
import {
  type Fusion,
  type Group,
  isLeaf,
  loopsOf,
  type PlannedLaunch,
  type Refusals,
  whyApart,
} from "@kiln-ml/compiler/explain";
import type { InspectedEdge, InspectedKernel, KernelArgument } from "@kiln-ml/inspector";
import { opRecord, scopePath, type Tensor } from "@kiln-ml/ir";
import type { NodeTable } from "./nodes.ts";

type Dims = Readonly<Record<string, number>>;

/** Where each stored or computed node was put. */
interface Home {
  readonly group: Group;
  readonly kernel: number;
}

export interface Launched {
  readonly launches: readonly PlannedLaunch[];
  readonly homes: ReadonlyMap<Tensor, Home>;
}

/** A kernel that moves bytes and computes no node of the program. */
const isCopy = ({ lowered }: PlannedLaunch): boolean => lowered.kernel.name === "copy";

const groupsOf = ({ lowered: { group } }: PlannedLaunch): Group[] => [
  group,
  ...group.operandReductions.map((s) => s.group),
  ...group.guests,
];

export function launched(launches: readonly PlannedLaunch[]): Launched {
  const homes = new Map<Tensor, Home>();
  for (const [kernel, launch] of launches.entries()) {
    if (isCopy(launch)) continue;
    for (const group of groupsOf(launch))
      for (const t of group.members.keys()) homes.set(t, { group, kernel });
  }
  return { launches, homes };
}

/** What a member is made of: stored nodes and leaves, and the nodes that are inlined on the way to them. */
function madeOf(member: Tensor, homes: Launched["homes"]) {
  const [reads, inlined] = [new Set<Tensor>(), new Set<Tensor>()];
  const left = [...member.operands];
  for (let t = left.pop(); t; t = left.pop()) {
    // What control flow gives is made by kernels in its regions, and never inlined.
    if (isLeaf(t) || homes.has(t) || opRecord(t.op).family === "control") reads.add(t);
    else if (!inlined.has(t)) {
      inlined.add(t);
      left.push(...t.operands);
    }
  }
  return { reads, inlined };
}

export function kernelsOf(
  { plan, kernels }: Artifact,
  { launches, homes }: Launched,
  nodes: NodeTable,
  dims: Dims,
): InspectedKernel[] {
  const times = timesOf(plan, dims);
  const value = (e: Parameters<typeof evaluateExtent>[0]): number =>
    Math.max(0, evaluateExtent(e, { ...loopDims(plan.flow), ...dims }));
  return plan.steps.map((step, i) => {
    const text = kernels[step.kernel]!;
    const grid = text.workgroups ?? text.phases?.map((p) => p.units);
    const launch = launches[i];
    const own = launch && !isCopy(launch) ? describe(launch, i, homes, nodes) : undefined;
    return {
      name: launch?.lowered.kernel.name ?? text.name,
      ...(launch && isCopy(launch) ? { kind: "copy" } : {}),
      members: [],
      inlined: [],
      ...own,
      text: step.kernel,
      arguments: launch
        ? argumentsOf(launch, nodes)
        : step.args.map((place, j) => ({ access: text.bindings[j]!.access, ...place })),
      bytes: value(step.bytes),
      flops: value(step.flops),
      times: times[i]!,
      ...(grid ? { grid: grid.map(value) } : {}),
    };
  });
}

/** A kernel in a loop may be of a size that changes with the trip: that of the first is shown. */
function loopDims(flow: Artifact["plan"]["flow"]): Dims {
  const dims: Record<string, number> = {};
  const enter = (list: NonNullable<typeof flow>): void => {
    for (const f of list) {
      if (typeof f === "number") continue;
      if ("loop" in f) dims[f.loop.dim] = 0;
      if ("if" in f) for (const part of [f.then, f.else]) enter(part);
      else enter(f.body);
      if ("while" in f) enter(f.while.test);
    }
  };
  enter(flow ?? []);
  return dims;
}

function describe(
  launch: PlannedLaunch,
  kernel: number,
  homes: Launched["homes"],
  nodes: NodeTable,
) {
  const members = groupsOf(launch).flatMap((g) => [...g.members.keys()]);
  const inlined = new Set<Tensor>();
  for (const m of members) for (const t of madeOf(m, homes).inlined) inlined.add(t);
  for (const t of [...members, ...inlined]) nodes.computedIn(t, kernel);
  const { group, recipe } = launch.lowered;
  const module = moduleOf(members) ?? moduleOf(inlined);
  const loops = loopsOf(group);
  return {
    kind: group.kind,
    ...(loops ? { loops } : {}),
    ...(recipe ? { recipe } : {}),
    ...(module ? { module } : {}),
    members: nodes.idsOf(members),
    inlined: nodes.idsOf(inlined),
  };
}

/** The module that most of the nodes are of; the first of several. */
function moduleOf(list: Iterable<Tensor>): string | undefined {
  const counts = new Map<string, number>();
  for (const t of list) {
    const path = scopePath(t.scope);
    if (path !== undefined) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

const argumentsOf = ({ lowered, places }: PlannedLaunch, nodes: NodeTable): KernelArgument[] =>
  places.map((place, i) => {
    const tensor = lowered.tensors[i];
    return {
      access: lowered.kernel.params[i]!.access,
      ...place,
      ...(tensor ? { node: nodes.idOf(tensor) } : {}),
    };
  });

/** What kernels read of each other. In regions a value has other names inside: what lies in a slot tells there. */
export function edgesOf(
  { launches, homes }: Launched,
  nodes: NodeTable,
  refusals: Refusals,
  fusion: Fusion | undefined,
): InspectedEdge[] {
  const edges: InspectedEdge[] = [];
  const known = new Set<string>();
  for (const [to, launch] of launches.entries()) {
    if (isCopy(launch)) continue;
    for (const by of groupsOf(launch))
      for (const reader of by.members.keys())
        for (const stored of madeOf(reader, homes).reads) {
          const home = homes.get(stored);
          const key = `${to} ${nodes.idOf(stored)}`;
          if (!home || home.kernel === to) continue;
          // Of what a slice leaves out, a kernel loads nothing: it does not bind where that lies.
          const { lowered } = launch;
          const lies = launches[home.kernel]!.lowered.writes.get(stored);
          if (!lies || !lowered.reads.has(stored) || !lowered.tensors.includes(lies)) continue;
          if (known.has(key)) continue;
          known.add(key);
          const edge = { stored, maker: home.group, reader, by };
          const { why, text, at } = whyApart(edge, refusals, fusion);
          const parts = { from: home.kernel, to, node: nodes.idOf(stored), why, text };
          edges.push({ ...parts, ...(at ? { at: nodes.idOf(at) } : {}) });
        }
  }
  return [...edges, ...bySlots(launches, nodes, edges)];
}

function bySlots(
  launches: readonly PlannedLaunch[],
  nodes: NodeTable,
  edges: readonly InspectedEdge[],
): InspectedEdge[] {
  const known = new Set(edges.map((e) => `${e.from} ${e.to}`));
  const writers = new Map<number, { kernel: number; tensor: Tensor | undefined }>();
  const more: InspectedEdge[] = [];
  for (const [to, { lowered, places }] of launches.entries()) {
    const { params } = lowered.kernel;
    for (const [i, place] of places.entries()) {
      const writer = place.in === "slot" ? writers.get(place.index) : undefined;
      if (!writer?.tensor || params[i]!.access !== "read") continue;
      const key = `${writer.kernel} ${to}`;
      if (known.has(key)) continue;
      known.add(key);
      const text = "control flow runs kernels of its own";
      const node = nodes.idOf(writer.tensor);
      more.push({ from: writer.kernel, to, node, why: "regions", text });
    }
    for (const [i, place] of places.entries())
      if (place.in === "slot" && params[i]!.access !== "read")
        writers.set(place.index, { kernel: to, tensor: lowered.tensors[i] });
  }
  return more;
}
