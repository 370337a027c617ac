/**
 * What a step of each network launches on webgpu, by kind, with the bytes and the time that the
 * model of a card gives it. Counted from what the compiler plans: it takes no card, and no machine
 * changes it. The memory is that of temporary buffers.
 */
import type { Limits } from "@kiln-ml/artifact";
import { opRecord, type Tensor } from "@kiln-ml/ir";
import { aliasRoot } from "../compiler/src/access.ts";
import { compileProgram } from "../compiler/src/all.ts";
import type { Group } from "../compiler/src/fuse/group.ts";
import { secondsOf } from "../compiler/src/machine/machine.ts";
import { card, guaranteed } from "../compiler/src/machine/webgpu.ts";
import type { PlannedLaunch } from "../compiler/src/plan/planned.ts";
import type { Program } from "../compiler/src/program.ts";
import { type NetworkRow, networkRows } from "./gpu-network-cases.ts";
import { bounded, type Row } from "./row.ts";
import { slotBytes } from "./session.ts";

/** What a launch is for. */
export type Kind =
  | "product"
  | "product and update"
  | "attention"
  | "sum"
  | "joined parts"
  | "scan"
  | "scatter"
  | "update"
  | "cast"
  | "elementwise"
  | "other";

export interface KindCount {
  readonly launches: number;
  readonly bytes: number;
  /** By `secondsOf`, without the launches. */
  readonly seconds: number;
}

export interface NetworkCounts {
  readonly launches: number;
  readonly slotBytes: number;
  readonly kinds: ReadonlyMap<Kind, KindCount>;
}

export interface CardSketch {
  readonly limits: Limits;
  readonly features: readonly string[];
}

/** The card of the results: what its adapter offers of that which changes kernels. */
export const cardSketch = (half: boolean): CardSketch => ({
  limits: {
    ...guaranteed,
    maxStorageBuffersPerShaderStage: 10,
    maxStorageBufferBindingSize: 2 ** 31 - 4,
    maxBufferSize: 2 ** 32,
    maxComputeWorkgroupStorageSize: 49152,
    maxComputeInvocationsPerWorkgroup: 1024,
  },
  features: half
    ? ["subgroups", "shader-f16", "subgroup-matrix-f16-f32-16x16x16-of-32"]
    : ["subgroups"],
});

/** Counts of one step of a program. */
export function countsOf(program: Program, { limits, features }: CardSketch): NetworkCounts {
  let launches: readonly PlannedLaunch[] = [];
  let updated: ReadonlySet<Tensor> = new Set();
  const { artifact } = compileProgram(program, {
    target: "webgpu",
    limits,
    features,
    observe: (_, state) => {
      if (!state.launches || !state.program) return;
      ({ launches } = state);
      updated = new Set(state.program.updates.map(([, value]) => aliasRoot(value)));
    },
  });
  const kinds = new Map<Kind, KindCount>();
  for (const [i, { lowered }] of launches.entries()) {
    const kind = kindOf(lowered.group, updated);
    const { bytes, flops } = artifact.plan.steps[i]! as { bytes: number; flops: number };
    const before = kinds.get(kind) ?? { launches: 0, bytes: 0, seconds: 0 };
    kinds.set(kind, {
      launches: before.launches + 1,
      bytes: before.bytes + bytes,
      seconds: before.seconds + secondsOf({ flops, bytes }, card),
    });
  }
  return { launches: launches.length, slotBytes: slotBytes(artifact), kinds };
}

function kindOf(group: Group, updated: ReadonlySet<Tensor>): Kind {
  const members = [...group.members.keys()];
  const updates = members.some((t) => updated.has(t));
  switch (group.kind) {
    case "contraction":
      return updates ? "product and update" : "product";
    case "attention":
    case "scan":
    case "scatter":
      return group.kind;
    case "rows":
      return members.some(joinsParts) ? "joined parts" : "sum";
    case "map":
      if (updates) return "update";
      return members.every((t) => t.op === "convert") ? "cast" : "elementwise";
    default:
      return "other";
  }
}

const passedOn = new Set(["reshape", "transpose", "convert"]);

/** Whether a node adds up what a sum or product gave of parts. */
function joinsParts(node: Tensor): boolean {
  if (opRecord(node.op).family !== "reduce") return false;
  let from = node.operands[0]!;
  while (passedOn.has(from.op)) from = from.operands[0]!;
  const { family } = opRecord(from.op);
  return family === "contraction" || (family === "reduce" && from.op === node.op);
}

/** Launches at most of what the goals name. */
const goals: Readonly<Record<string, number>> = {
  "GPT 55M train": 170,
  "GPT 55M train f16": 170,
  "ResNet-50 train": 330,
};

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

/** Rows of all networks: launches, those of each kind, and temporary memory. */
export function networkCountRows(
  selected: (name: string) => boolean,
  networks: readonly NetworkRow[] = networkRows,
): Row[] {
  return networks
    .filter((network) => selected(network.name))
    .flatMap((network): Row[] => {
      const counts = countsOf(network.build(), cardSketch(network.half === true));
      const row = { case: network.name, target: "webgpu", unit: "" };
      const launches = { ...row, metric: "launches", value: counts.launches };
      const MiB = counts.slotBytes / 2 ** 20;
      return [
        bounded(launches, goals[network.name]),
        ...[...counts.kinds]
          .sort(([, a], [, b]) => b.launches - a.launches)
          .map(
            ([kind, { launches: value, bytes, seconds }]): Row => ({
              ...row,
              metric: kind,
              value,
              note: `${megabytes(bytes)}, ${(seconds * 1e3).toFixed(2)} ms at the card's rates`,
            }),
          ),
        { ...row, metric: "temporary memory", value: Math.round(MiB), unit: "MiB" },
      ];
    });
}
