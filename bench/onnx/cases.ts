/**
 * Cases of an ONNX conformance suite: a model, and files of inputs with the outputs that belong to them. Finds them by
 * the layout of the suite; a case of the suite's `real/` names a model elsewhere in it. Reads no model.
 */
import type { Files } from "./files.ts";

/** Paths of the inputs and outputs that belong together, in the order of the graph's. */
export interface DataSet {
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

export interface Case {
  /** `FOLDER/CASE`, or `CASE` where the data has no folders. */
  readonly name: string;
  readonly folder: string;
  readonly model: string;
  readonly sets: readonly DataSet[];
  /** Other files beside the model, which may be its external data, by the name it calls them. */
  readonly beside: readonly string[];
  /** Inputs are made by a formula, as the suite does where it stores only outputs. */
  readonly made: boolean;
  readonly rtol: number;
  readonly atol: number | undefined;
}

/** What `assert_allclose` is called with by the suite. */
const rtol = 1e-3;

const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf("/")));
const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** `input_10.pb` comes after `input_9.pb`. */
const numbered = (names: readonly string[], kind: string): string[] => {
  const index = (name: string) => Number(nameOf(name).match(/_(\d+)\.pb$/)?.[1]);
  return names
    .filter((name) => new RegExp(`^${kind}_\\d+\\.pb$`).test(nameOf(name)))
    .sort((a, b) => index(a) - index(b));
};

function setsOf(folder: string, names: readonly string[]): DataSet[] {
  const within = names.filter((name) => name.startsWith(`${folder}/test_data_set_`));
  const folders = [...new Set(within.map(folderOf))].sort();
  return folders.map((set) => {
    const own = within.filter((name) => folderOf(name) === set);
    return { inputs: numbered(own, "input"), outputs: numbered(own, "output") };
  });
}

/** Folder and case of a path, without what all paths have in front of them. */
const shortName = (path: string): string => path.split("/").slice(-2).join("/");

function storedCase(model: string, names: readonly string[]): Case {
  const folder = folderOf(model);
  return {
    name: shortName(folder),
    folder,
    model,
    sets: setsOf(folder, names),
    beside: names
      .filter((name) => name !== model && !name.startsWith(`${folder}/test_data_set_`))
      .map((name) => name.slice(folder.length + 1)),
    made: false,
    rtol,
    atol: undefined,
  };
}

interface Linked {
  readonly url: string;
  readonly rtol?: number;
  readonly atol?: number;
}

/** A case whose model lies in `light/`, with its expected output beside it. */
function linkedCase(path: string, files: Files): Case | undefined {
  const told = JSON.parse(new TextDecoder().decode(files.read(path))) as Linked;
  const wanted = `light/${nameOf(told.url)}`;
  const model = files.names.find((name) => name === wanted || name.endsWith(`/${wanted}`));
  if (!model) return undefined;
  const stem = model.slice(0, -".onnx".length);
  const outputs = numbered(
    files.names.filter((name) => name.startsWith(`${stem}_output_`)),
    "\\w+_output",
  );
  return {
    name: shortName(folderOf(path)),
    folder: folderOf(model),
    model,
    sets: [{ inputs: [], outputs }],
    beside: [],
    made: true,
    rtol: told.rtol ?? rtol,
    atol: told.atol,
  };
}

/** The cases by name. Those whose model is not among the files are left out. */
export function casesOf(files: Files): Case[] {
  const byFolder = new Map<string, string[]>();
  for (const name of files.names) {
    const folder = folderOf(name).replace(/\/test_data_set_\d+$/, "");
    const list = byFolder.get(folder);
    if (list) list.push(name);
    else byFolder.set(folder, [name]);
  }
  const cases = files.names.flatMap((path) => {
    if (nameOf(path) === "model.onnx") return [storedCase(path, byFolder.get(folderOf(path))!)];
    if (nameOf(path) !== "data.json" || files.names.includes(`${folderOf(path)}/model.onnx`))
      return [];
    const linked = linkedCase(path, files);
    return linked ? [linked] : [];
  });
  return cases.sort((a, b) => (a.name < b.name ? -1 : 1));
}
