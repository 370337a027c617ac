/**
 * One entry of an artifact with several as a model: of the targets that it is compiled for the
 * first that runs here. Loaded when such an artifact is opened, so that pages with one program
 * download none of it.
 */
import { DeviceError, GraphError, type TargetName } from "@kiln-ml/artifact";
import {
  type EntryFiles,
  filesAtUrl,
  filesInMemory,
  readManifestOf,
} from "@kiln-ml/artifact/entries";
import { loadEntries } from "@kiln-ml/runtime/entries";
import type { Device } from "@kiln-ml/runtime/loader";
import { deviceFor, openTargets, runningModel, type Where } from "./artifact-model.ts";
import type { OpenedModel } from "./open-model.ts";

/** The files of a folder in memory. */
export const entriesIn = (
  files: ReadonlyMap<string, Uint8Array>,
  where: Where,
): Promise<OpenedModel> => entriesModel(filesInMemory(files), where);

/** A folder behind a URL, fetched file by file: `fetch` tells of bytes and ends by a signal. */
export const entriesAt = (
  url: URL,
  where: Where,
  fetch: (url: URL) => Promise<Response>,
): Promise<OpenedModel> => entriesModel(filesAtUrl(url, { fetch }), where);

export async function entriesModel(files: EntryFiles, where: Where): Promise<OpenedModel> {
  const { name, entries } = await readManifestOf(files);
  const names = entries.map((e) => e.name);
  const entry = where.entry ?? (names.length === 1 ? names[0]! : undefined);
  if (entry === undefined)
    throw new GraphError(
      `openModel: ${name} has several entries: ${names.join(", ")}\n  name one as entry, or run all with loadEntries of kiln-ml/entries`,
    );
  if (!names.includes(entry))
    throw new GraphError(
      `openModel: ${name} has no entry ${JSON.stringify(entry)}\n  its entries are ${names.join(", ")}`,
    );
  const device = await firstDevice(
    name,
    entries[0]!.programs.map((p) => p.target),
    where,
  );
  const loaded = await loadEntries(files, device, { entries: [entry] });
  return runningModel(`${name}.${entry}`, loaded.entry(entry), async () => loaded.dispose());
}

/** The device of the best target that an artifact is for. Throws DeviceError where there is none. */
export async function firstDevice(
  name: string,
  compiled: readonly TargetName[],
  { targets = openTargets, ...wishes }: Where,
): Promise<Device> {
  const reasons: string[] = [];
  for (const target of targets.filter((t) => compiled.includes(t)))
    try {
      return await deviceFor(target, wishes);
    } catch (error) {
      if (!(error instanceof DeviceError)) throw error;
      reasons.push(`${target}: ${error.message.split("\n")[0]}`);
    }
  throw new DeviceError(
    `openModel: ${name} is compiled for ${compiled.join(", ")}, none of which runs here${reasons.length ? `: ${reasons.join("; ")}` : ""}\n  compile it for js too, which runs everywhere`,
  );
}
