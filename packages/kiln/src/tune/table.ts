/**
 * What a tuner found, as a plain table that can be kept as JSON: for each adapter and each of its kernels the fastest choice.
 * Checks a table, finds the part that holds for a device, and joins tables. Reads no file and times nothing.
 */
import type { Limits, TargetName } from "@kiln-ml/artifact";
import type { Tuning } from "@kiln-ml/compiler";
import { GraphError } from "@kiln-ml/ir";
import { visible } from "@kiln-ml/ir/errors";
import type { Device } from "@kiln-ml/runtime/loader";
import { version } from "../version.ts";

/** The fastest choice for one kernel, with its time and that of the compiler's own choice, in milliseconds. */
export interface TunedChoice {
  readonly choice: string;
  readonly ms: number;
  readonly standard: string;
  readonly standardMs: number;
}

/** What was found on one adapter, for kernels compiled for one class of limits. */
export interface TuningEntry {
  readonly target: TargetName;
  readonly adapter: string;
  readonly limits: string;
  /** The version of the compiler: another one may have other choices, or other kernels behind them. */
  readonly compiler: string;
  readonly kernels: Readonly<Record<string, TunedChoice>>;
}

export interface TuningTable {
  readonly format: "kiln-tuning";
  readonly entries: readonly TuningEntry[];
}

/** Whose choices: all but the kernels of an entry. */
type TuningPlace = Omit<TuningEntry, "kernels">;

/** The limits that decide which choices there are. */
const limitsClass = (limits: Limits): string => {
  const { maxComputeWorkgroupStorageSize: bytes, maxComputeInvocationsPerWorkgroup: invocations } =
    limits;
  return bytes === undefined
    ? "any"
    : `${bytes} bytes and ${invocations} invocations of a workgroup`;
};

/** An adapter as tables name it: vendor, architecture and description, or the device's name. */
function adapterName({ adapter, name }: Device): string {
  if (!adapter) return name;
  const { vendor, architecture, description } = adapter;
  return [vendor, architecture, description].filter((part) => part !== "").join(" / ") || name;
}

export const placeOf = (device: Device, limits: Limits = device.limits): TuningPlace => ({
  target: device.target,
  adapter: adapterName(device),
  limits: limitsClass(limits),
  compiler: version,
});

const fields = ["target", "adapter", "limits", "compiler"] as const;

const samePlace = (a: TuningPlace, b: TuningPlace): boolean =>
  fields.every((field) => a[field] === b[field]);

/** The choices for a place, or why a table has none, in one line. */
export function tuningAt(
  { entries }: TuningTable,
  place: TuningPlace,
): { readonly tuning: Tuning } | { readonly why: string } {
  const found = entries.find((e) => samePlace(e, place));
  if (found) return { tuning: choicesOf(found) };
  const own = entries.filter((e) => e.target === place.target);
  // The first field that no entry shares, given those before it, is what stands in the way.
  let [left, differs]: [readonly TuningEntry[], (typeof fields)[number]] = [own, "target"];
  for (const field of fields) {
    const same = left.filter((e) => e[field] === place[field]);
    differs = field;
    if (same.length === 0) break;
    left = same;
  }
  const theirs =
    [...new Set(left.map((e) => e[differs]))].join("; ") || "no adapter of this target";
  return { why: `it is for ${theirs}, and this is ${place[differs]}` };
}

const explained = new WeakSet<TuningTable>();

/** The choices for a device; none, and once a word why, where the table is for others. */
export function tuningFor(table: TuningTable, device: Device): Tuning | undefined {
  const found = tuningAt(table, placeOf(device));
  if ("tuning" in found) return found.tuning;
  const concerned = table.entries.some((e) => e.target === device.target);
  if ((concerned || device.kind === "webgpu") && !explained.has(table)) {
    explained.add(table);
    console.warn(visible(`compile: the tuning is left alone: ${found.why}`));
  }
  return undefined;
}

const choicesOf = ({ kernels }: TuningEntry): Tuning =>
  Object.fromEntries(Object.entries(kernels).map(([key, { choice }]) => [key, choice]));

/**
 * The choices for programs compiled where their adapter is not: those found with the guaranteed limits, on the adapter whose
 * name contains `adapter`. Throws GraphError unless that is exactly one.
 */
export function tuningElsewhere(
  table: TuningTable,
  { target, limits: given }: { readonly target: TargetName; readonly limits: Limits },
  adapter = "",
): Tuning {
  const place = { target, limits: limitsClass(given), compiler: version };
  const found = table.entries.filter(
    (e) =>
      e.adapter.toLowerCase().includes(adapter.toLowerCase()) &&
      samePlace({ ...place, adapter: e.adapter }, e),
  );
  const [first, second] = found;
  const wanted = `${place.target} with ${place.limits}, compiler ${place.compiler}`;
  if (!first)
    throw new GraphError(
      `tuning: the table has nothing for ${wanted}${adapter && ` on "${adapter}"`}\n  kiln tune --guaranteed-limits finds it`,
    );
  if (second)
    throw new GraphError(
      `tuning: ${found.length} adapters have entries for ${wanted}: ${found.map((e) => e.adapter).join("; ")}\n  name one of them`,
    );
  return choicesOf(first);
}

/** Both tables in one; where both know a kernel, the second. Entries of other compilers for a place of the second go. */
export function joinTunings(a: TuningTable, b: TuningTable): TuningTable {
  const entries = a.entries.filter(
    (e) => !b.entries.some((f) => samePlace({ ...e, compiler: f.compiler }, f)),
  );
  for (const f of b.entries) {
    const old = a.entries.find((e) => samePlace(e, f));
    entries.push({ ...f, kernels: { ...old?.kernels, ...f.kernels } });
  }
  return { format: "kiln-tuning", entries };
}

/** A value that was read, checked field by field. Throws GraphError that says what is wrong, after `where`. */
export function checkTuning(value: unknown, where: string): TuningTable {
  const refuse = (what: string): never => {
    throw new GraphError(
      `${where}: is no table of a tuner: ${what}\n  delete it, or run kiln tune with another --output`,
    );
  };
  const isRecord = (x: unknown): x is Record<string, unknown> =>
    typeof x === "object" && x !== null && !Array.isArray(x);
  if (!isRecord(value) || value.format !== "kiln-tuning")
    return refuse("format is not kiln-tuning");
  if (!Array.isArray(value.entries)) return refuse("entries is no list");
  for (const [i, e] of (value.entries as unknown[]).entries()) {
    if (!isRecord(e) || !isRecord(e.kernels)) return refuse(`entries[${i}] has no kernels`);
    for (const field of fields)
      if (typeof e[field] !== "string") refuse(`entries[${i}].${field} is no text`);
    for (const [key, kernel] of Object.entries(e.kernels)) {
      if (!isRecord(kernel)) return refuse(`entries[${i}], kernel ${key} is no record`);
      for (const field of ["choice", "standard"])
        if (typeof kernel[field] !== "string") refuse(`kernel ${key}: ${field} is no text`);
      // JSON's 1e999 is infinite, and would be written again as null.
      for (const field of ["ms", "standardMs"])
        if (!Number.isFinite(kernel[field]) || (kernel[field] as number) < 0)
          refuse(`kernel ${key}: ${field} is ${String(kernel[field])}, no time`);
    }
  }
  return value as unknown as TuningTable;
}
