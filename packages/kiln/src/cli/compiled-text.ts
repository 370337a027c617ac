/**
 * Language models that are compiled already, in `kiln generate`, `chat` and `serve`: the folder of
 * `kiln compile`, run by the runtime alone.
 */
import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { readManifestOf } from "@kiln-ml/artifact/entries";
import { openEntries } from "@kiln-ml/artifact/node";
import type { CompiledModel } from "@kiln-ml/llm";
import { loadEntries } from "@kiln-ml/runtime/entries";
import { settings } from "../devices/settings.ts";
import { firstDevice } from "../open/entries-model.ts";
import { PlainError, short } from "./failure.ts";
import { languageModels } from "./language-model.ts";
import { isArtifact } from "./ready.ts";
import type { Parsed } from "./usage.ts";

/** Options that say how a model is compiled, which it is already. */
const before = ["quantize", "activations", "keep", "embeddings"];

/** Whether a file that is called an artifact begins as no GGUF file does. */
function isPacked(path: string): boolean {
  if (!isArtifact(path)) return false;
  const file = openSync(path, "r");
  try {
    const magic = Buffer.alloc(4);
    readSync(file, magic, 0, 4, 0);
    return magic.toString("latin1") !== "GGUF";
  } finally {
    closeSync(file);
  }
}

const withoutTokenizer = (command: string, path: string): PlainError =>
  new PlainError(
    `kiln ${command}: ${short(path)} is an artifact without a tokenizer\n  compile the model into a folder: kiln compile MODEL -o out/`,
  );

/** The folder of a compiled language model; undefined for a path of anything else. */
export async function compiledTexts(
  command: string,
  path: string,
  values: Parsed["values"],
): Promise<CompiledModel | undefined> {
  // A file is what it has in it, whatever it is called: who loads it says.
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() && command !== "serve" && isPacked(path))
    throw withoutTokenizer(command, path);
  if (found?.isDirectory() !== true) return undefined;
  if (!isArtifact(path)) return undefined;
  if (!existsSync(join(path, "text.json"))) {
    if (command === "serve") return undefined;
    throw withoutTokenizer(command, path);
  }
  const odd = before.find((name) => values[name] !== undefined);
  if (odd !== undefined)
    throw new PlainError(
      `kiln ${command}: --${odd} cannot be had for ${short(path)}, which is compiled already\n  give it to kiln compile`,
    );
  const { modelFilesAt, openCompiledModel } = await languageModels(command);
  const files = await openEntries(path);
  const { name, entries } = await readManifestOf(files);
  const compiled = entries[0]!.programs.map((p) => p.target);
  const { target = "auto" } = settings;
  const asked = target === "auto" ? {} : { targets: [target] };
  const device = await firstDevice(name, compiled, asked);
  return openCompiledModel(modelFilesAt(path), await loadEntries(files, device));
}
