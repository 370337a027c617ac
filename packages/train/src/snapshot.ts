/**
 * The state of a run as one file: a safetensors file of all tensors, whose metadata hold what the loop itself has to know. One file,
 * since two could be of different steps. Any reader of safetensors can open it; the model is under `model.`.
 */
import { readSafetensors, writeSafetensors } from "@kiln-ml/artifact";
import { ArtifactError } from "@kiln-ml/ir";
import { frontDoor, type Named } from "./front.ts";
import type { EpochRecord } from "./run.ts";

/** Where a run stood. */
export interface Position {
  /** The epoch that is being trained, from 1, and its batches that are done. */
  readonly epoch: number;
  readonly batch: number;
  readonly step: number;
  /** True once its validation is done too. */
  readonly finished: boolean;
  readonly records: readonly EpochRecord[];
  /** Seconds that the present epoch took so far. */
  readonly seconds: number;
  readonly samples: number;
  readonly loader: unknown;
  /** States of callbacks by name. */
  readonly callbacks: Readonly<Record<string, unknown>>;
}

const key = "kiln.train";
const version = 1;

export async function packSnapshot(state: Named, position: Position): Promise<Uint8Array> {
  const { tensors } = readSafetensors(await frontDoor().stateBytes(state));
  const text = JSON.stringify({ version, ...position }, (_, x) =>
    // JSON has no NaN and no infinity, and a metric may be either.
    typeof x === "number" && !Number.isFinite(x) ? { number: String(x) } : x,
  );
  return writeSafetensors(tensors, { format: "kiln", [key]: text });
}

/** Where the run stood. Throws ArtifactError for bytes that are no snapshot of a run. */
export function positionIn(bytes: Uint8Array): Position {
  const text = readSafetensors(bytes).metadata[key];
  if (text === undefined)
    throw new ArtifactError(
      "resume: the file holds tensors, but no run\n  give a folder or a file that train.checkpoint wrote; load reads weights",
    );
  const found = JSON.parse(text, (_, x) =>
    x instanceof Object && typeof x.number === "string" && Object.keys(x).length === 1
      ? Number(x.number)
      : x,
  );
  if (found.version !== version)
    throw new ArtifactError(
      `resume: the file is of version ${found.version}, this reads ${version}\n  resume it with the release that wrote it`,
    );
  return found;
}

/** Puts the tensors of a snapshot into `state`. Rejects with GraphError where the run is another one. */
export async function unpackSnapshot(state: Named, bytes: Uint8Array): Promise<void> {
  await frontDoor().loadState(state, bytes);
}
