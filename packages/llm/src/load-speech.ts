/**
 * Models that hear in folders, for Node: config.json, safetensors and tokenizer.json.
 */
import { loadWeights } from "kiln-ml";
import { folderOf } from "./folder.ts";
import type { Tokenizer } from "./generate.ts";
import { generationIn } from "./generation-config.ts";
import { checkReading, modelIn, type ReadingOptions, watched, weightsIn } from "./model-files.ts";
import { checkHeld, whisperParameters } from "./size.ts";
import { Whisper } from "./whisper.ts";
import { whisperConfig } from "./whisper-config.ts";

/**
 * The Whisper model of a folder, and its tokenizer.
 *
 *     const { net, tokenizer } = await loadSpeechModel("whisper-tiny");
 *     const session = new SpeechSession(net);
 *
 * Rejects as `loadModel` does.
 */
export async function loadSpeechModel(
  path: string,
  options: ReadingOptions = {},
): Promise<{ readonly net: Whisper; readonly tokenizer: Tokenizer }> {
  const checked = checkReading("loadSpeechModel", options);
  const folder = watched(folderOf(path, "loadSpeechModel"), checked);
  const { json, tokenizer } = await modelIn(folder, "loadSpeechModel");
  const told = whisperConfig(json);
  const { sampling: _, ...generation } = await generationIn(folder, told);
  const config = { ...told, ...generation };
  const { "proj_out.weight": _tied, ...tensors } = await weightsIn(folder);
  checkHeld(whisperParameters(config), tensors, "config.json");
  const net = new Whisper(config, { empty: true });
  await loadWeights(net, tensors, { convert: true });
  return { net, tokenizer };
}
