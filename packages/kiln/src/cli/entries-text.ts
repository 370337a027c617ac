/** What `kiln inspect` says of an artifact with several entries: all of them, or one as a program. */
import type { Artifact } from "@kiln-ml/artifact";
import { ArtifactError } from "@kiln-ml/artifact";
import { type ArtifactEntries, bytesOfState } from "@kiln-ml/artifact/entries";
import { openEntries, readEntries } from "@kiln-ml/artifact/node";
import type { TargetOption } from "../devices/session.ts";
import { hasEntries } from "../open/open-here.ts";
import { bytesText, specText } from "./extents.ts";
import { ofFile } from "./named-file.ts";
import { table } from "./table.ts";
import { inLine, say } from "./terminal.ts";
import { type Parsed, UsageError } from "./usage.ts";

/** The entries of an artifact that has several; undefined for one of a single program. */
export async function severalIn(path: string): Promise<ArtifactEntries | undefined> {
  try {
    const files = await openEntries(path);
    if (!hasEntries(await files.read("manifest.json", 64 << 20))) return undefined;
  } catch (error) {
    // What reads one program says what is wrong.
    if (error instanceof ArtifactError) return undefined;
    throw error;
  }
  return ofFile(path, () => readEntries(path));
}

/** One program as an artifact, with the weights that it reads. Throws UsageError for a name of none. */
export function entryOf(
  { name, entries, weights }: ArtifactEntries,
  target: TargetOption,
  asked: Parsed["values"][string],
): Artifact {
  const names = Object.keys(entries);
  const entry = asked === undefined ? names[0]! : String(asked);
  if (!Object.hasOwn(entries, entry))
    throw new UsageError(
      `kiln inspect: ${inLine(name)} has no entry ${entry}\n  its entries are ${names.join(", ")}`,
    );
  const programs = entries[entry]!;
  const found = target === "auto" ? programs[0] : programs.find((p) => p.target === target);
  if (!found)
    throw new UsageError(
      `kiln inspect: ${inLine(name)} is compiled for ${programs.map((p) => p.target).join(", ")}, not for ${target}`,
    );
  const own = found.signature.states.flatMap(({ name: state }) => {
    const value = Object.hasOwn(weights, state) ? weights[state] : undefined;
    return value === undefined || value === "zeros" ? [] : [[state, value] as const];
  });
  return { ...found, weights: Object.fromEntries(own) };
}

/** A line for each entry, and what they share. */
export function tellEntries(all: ArtifactEntries, { json, html }: Parsed["values"]): number {
  const entries = Object.entries(all.entries);
  if (json || html !== undefined)
    throw new UsageError(
      `kiln inspect: ${inLine(all.name)} has several entries, --${json ? "json" : "html"} is of one\n  name it: --entry ${entries[0]![0]}`,
    );
  const bytes = (test: (weight: unknown) => boolean): number =>
    all.states.reduce((n, s) => n + (test(all.weights[s.name]) ? bytesOfState(s) : 0), 0);
  const isHeld = (w: unknown): boolean => typeof w === "object";
  const rows = entries.map(([name, programs]) => {
    const [{ plan, kernels, signature }] = programs as [Artifact];
    const inputs = signature.inputs.map((i) => specText(i, {})).join(", ");
    return [name, `${plan.steps.length}`, `${kernels.length}`, inputs];
  });
  const targets = entries[0]![1].map((p) => p.target).join(", ");
  const zeros = bytes((w) => w === "zeros");
  say(
    `== ${inLine(all.name)} for ${targets}: ${entries.length} entries over ${all.states.length} states, ${bytesText(bytes(isHeld))} of weights${zeros ? `, ${bytesText(zeros)} of zeros` : ""}\n${table([["entry", "steps", "kernels", "inputs"], ...rows])}\n\nkiln inspect --entry ${entries[0]![0]} shows one of them\n`,
  );
  return 0;
}
