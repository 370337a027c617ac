/**
 * How a step scales to more devices than there are, simulated. XLA partitions the text for so many
 * devices made of the processor; what its program sends is counted by collective, and a ring's
 * time is computed from the links below. Compute is what one device takes, measured. A step takes
 * between `overlapped`, where all of the sending hides behind compute, and `apart`.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dataParallel, exportStableHlo, fsdp, mesh, type Recipe } from "@kiln-ml/stablehlo";
import type { Program } from "../../compiler/src/program.ts";
import type { Row } from "../row.ts";
import { runScript } from "./script.ts";

/**
 * Bytes a second that a device sends: within a host of eight over NVLink 4 (NVIDIA H100 data sheet,
 * 900 GB/s in both directions together), and between hosts over one 400 Gb/s port a device.
 */
const links = { host: 8, within: 450e9, between: 50e9 };

/** Kind, bytes of its result, devices of a group. */
export type Collective = readonly [kind: string, bytes: number, group: number];

/** Bytes that each device sends for one collective by a ring. */
export function sentBytes([kind, bytes, n]: Collective): number {
  const part = (n - 1) / n;
  if (kind === "all-reduce") return 2 * part * bytes;
  // Its result is one of n parts of what goes around.
  if (kind === "reduce-scatter") return (n - 1) * bytes;
  if (kind === "collective-permute") return bytes;
  return part * bytes;
}

/** Seconds of the sending of a step. */
export const sendingSeconds = (all: readonly Collective[]): number =>
  all.reduce((sum, c) => {
    const rate = c[2] > links.host ? links.between : links.within;
    return sum + sentBytes(c) / rate;
  }, 0);

function collectivesOf(program: Program, devices: number, recipe: Recipe, python: string) {
  const grid = mesh({ data: devices });
  const { text } = exportStableHlo(program, { mesh: grid, shard: recipe });
  const folder = mkdtempSync(join(tmpdir(), "kiln-scaling-"));
  try {
    const path = join(folder, "step.mlir");
    writeFileSync(path, text);
    const asked = [path, String(devices)];
    return runScript(
      { mesh: grid, python, virtual: true },
      "collectives.py",
      asked,
    ) as Collective[];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Weak scaling: the same batch a device, whose step took `milliseconds` alone. */
export function scalingRows(
  step: (devices: number) => Program,
  milliseconds: number,
  { python, counts }: { readonly python: string; readonly counts: readonly number[] },
): Row[] {
  const recipes: Readonly<Record<string, Recipe>> = {
    data: dataParallel(),
    fsdp: fsdp(),
  };
  const rows: Row[] = [];
  for (const devices of counts)
    for (const [name, recipe] of Object.entries(recipes)) {
      const all = collectivesOf(step(devices), devices, recipe, python);
      const sent = all.reduce((sum, c) => sum + sentBytes(c), 0);
      const sending = 1000 * sendingSeconds(all);
      const apart = milliseconds / (milliseconds + sending);
      const overlapped = milliseconds / Math.max(milliseconds, sending);
      const note = `simulated: ${all.length} collectives, ${(sent / 1e6).toFixed(0)} MB sent a device, ${sending.toFixed(2)} ms; overlapped ${overlapped.toFixed(3)}`;
      console.log(`${devices} devices, ${name}: ${apart.toFixed(3)} of linear apart; ${note}`);
      const target = `xla, ${devices} devices`;
      rows.push({
        case: `gpt step, ${name}`,
        target,
        metric: "scaling",
        value: apart,
        unit: "",
        note,
      });
    }
  return rows;
}
