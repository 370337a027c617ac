/** Why "auto" runs a program where it does: the time it expects on each target, and what it saw of the machine. */
import type { Artifact } from "@kiln-ml/artifact";
import {
  countsOf,
  type Estimate,
  expectedRuns,
  type Machine,
  nominalDims,
  type Placement,
  place,
} from "../devices/placement.ts";
import { adapterHere, threadsHere } from "../devices/session.ts";
import { wasmMissing } from "../devices/wasm-support.ts";
import type { Dims } from "./extents.ts";
import { table } from "./table.ts";

interface Placed {
  readonly placement: Placement;
  readonly machine: Machine;
  /** Whether an adapter was looked for. */
  readonly looked: boolean;
}

/** For this machine, or for one with the adapter that is named. As at a run, one is looked for only where it could win. */
export async function placed(a: Artifact, dims: Dims, adapter?: string): Promise<Placed> {
  const counts = countsOf(a, { ...nominalDims(a), ...dims });
  const wasm = wasmMissing() ?? { threads: threadsHere() };
  const hopeful = place(counts, { wasm, webgpu: adapter ?? "discrete" });
  const looked = adapter === undefined && hopeful.target === "webgpu";
  const machine: Machine = { wasm, webgpu: looked ? await adapterHere() : (adapter ?? "discrete") };
  return { placement: looked ? place(counts, machine) : hopeful, machine, looked };
}

/** The estimates as a table, fastest first, and the reason for the first. */
export async function placementText(a: Artifact, dims: Dims, adapter?: string): Promise<string> {
  const { placement, machine, looked } = await placed(a, dims, adapter);
  const head = ["target", "ms a run", "compute", "launches", "transfer", "load once"];
  const rows = placement.estimates.map(rowOf);
  const lines = [
    `== placement: ${placement.target}`,
    table([head, ...rows]),
    ...leftOut(placement),
    `${placement.reason}.`,
    `A run has its share of a load for ${expectedRuns} runs. ${machineText(machine)}`,
    ...(looked || adapter !== undefined
      ? []
      : ["No adapter was looked for, since not even a discrete one would be faster."]),
    ...assumed(a, dims, nominalDims(a)),
  ];
  return `${lines.join("\n")}\n`;
}

const rowOf = (e: Estimate): string[] => [
  e.target,
  ...[e.total, e.compute, e.launches, e.transfer, e.load].map((ms) => ms.toFixed(4)),
];

const leftOut = ({ refused }: Placement): string[] =>
  Object.entries(refused).map(([target, why]) => `${target} is left out: ${why}`);

function machineText({ wasm, webgpu }: Machine): string {
  const threads = typeof wasm === "string" ? "no wasm" : `wasm with ${plural(wasm.threads)}`;
  const kinds: readonly string[] = ["discrete", "integrated", "software"];
  const article = webgpu === "integrated" ? "an" : "a";
  const adapter = kinds.includes(webgpu) ? `${article} ${webgpu} adapter` : "no adapter";
  return `Estimated for ${threads} and ${adapter}.`;
}

const plural = (n: number): string => `${n} thread${n === 1 ? "" : "s"}`;

/** The dims whose values nobody gave. */
function assumed(a: Artifact, dims: Dims, nominal: Dims): string[] {
  const names = a.signature.dims.map((d) => d.name).filter((name) => !Object.hasOwn(dims, name));
  if (names.length === 0) return [];
  const values = names.map((name) => `${name}=${nominal[name]}`).join(",");
  return [
    `Dims count as ${values}: their largest, or 32 where they have none; --dims gives others.`,
  ];
}
