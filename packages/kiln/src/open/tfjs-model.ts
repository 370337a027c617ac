/** A model.json of TensorFlow.js as a model, with the shards that lie beside it. */
import { OnnxModel } from "../onnx.ts";
import type { Where } from "./artifact-model.ts";
import { graphModel } from "./onnx-model.ts";
import type { OpenedModel } from "./open-model.ts";
import type { Fetcher } from "./source.ts";
import { readText, readTfjs } from "./tfjs-source.ts";

/** Of a URL, or of files by name. */
export const tfjsModel = (
  source: URL | ReadonlyMap<string, Uint8Array>,
  where: Where,
  fetcher: Fetcher,
): Promise<OpenedModel> => {
  const file = source instanceof URL ? source.pathname.split("/").at(-1) : undefined;
  return graphModel(file, where, async (target) => {
    const imported = await readTfjs(source, fetcher);
    return new OnnxModel(imported, target, {});
  });
};

/** Of a text, whose shards are had by `shard`. */
export const tfjsModelBeside = (
  text: string,
  file: string,
  shard: (path: string) => Promise<Uint8Array>,
  where: Where,
  fetcher: Fetcher,
): Promise<OpenedModel> =>
  graphModel(
    file,
    where,
    async (target) => new OnnxModel(await readText(text, file, shard, fetcher), target, {}),
  );
