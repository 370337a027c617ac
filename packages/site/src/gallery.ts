/** The gallery as files: a page of cards, the digits page with its data, and the page that takes ONNX files. */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { convolution, data, maximum, type Tensor, tensor } from "kiln-ml";
import { exportOnnx } from "kiln-ml/onnx";
import { scripts } from "./bundle.ts";
import { framed } from "./frame.ts";
import { labBody, labPages } from "./gallery-lab.ts";
import { cards, chatBody, digitsBody, onnxBody } from "./gallery-pages.ts";

const kept = 2250;

/** Digits at random, a label and 784 bytes each, deflated: 2,000 to learn from, 250 to be held back. */
async function digitsFile(root: string): Promise<Uint8Array> {
  const manifest = createRequire(join(root, "package.json")).resolve("mnist/package.json");
  const folder = pathToFileURL(join(dirname(manifest), "src/digits"));
  const all = await data.mnistFromDigits(folder);
  const [some] = data.split(all, [kept / all.length, 1 - kept / all.length], 1);
  const bytes = new Uint8Array(kept * 785);
  const indices = Array.from({ length: kept }, (_, i) => i);
  const [images, labels] = await some!.gather(indices);
  for (let i = 0; i < kept; i++) {
    bytes[i * 785] = labels[i]!;
    for (let p = 0; p < 784; p++) bytes[i * 785 + 1 + p] = Math.round(255 * images[i * 784 + p]!);
  }
  return gzipSync(bytes, { level: 9 });
}

/** A pencil drawing: gray over its own blur, f32[1,3,H,W] → f32[1,1,H,W]. */
function sketch(image: Tensor): { sketch: Tensor } {
  const gray = image.mul(tensor([[[0.299]], [[0.587]], [[0.114]]])).sum([1], { keepDims: true });
  const bell = [1, 6, 15, 20, 15, 6, 1].map((v) => v / 64);
  const column = tensor([[bell.map((v) => [v])]]);
  const row = tensor([[[bell]]]);
  const blurred = convolution(convolution(gray, column, { padding: [3, 0] }), row, {
    padding: [0, 3],
  });
  return { sketch: gray.div(maximum(blurred, 1e-3)).minimum(1).square() };
}

const sketchFile = (): Promise<Uint8Array> =>
  exportOnnx(sketch, {
    inputs: [{ shape: [1, 3, "height", "width"], name: "image" }],
    name: "sketch",
  });

/** The model that the chat page begins with, which `models/train-teller.ts` trained. */
const tellerFiles = (root: string): Record<string, Uint8Array> => {
  const folder = join(root, "packages/site/models/teller");
  return Object.fromEntries(
    readdirSync(folder).map((name) => [`teller/${name}`, readFileSync(join(folder, name))]),
  );
};

/** Files by path, from the site's folder. */
export async function galleryFiles(root: string): Promise<Record<string, string | Uint8Array>> {
  const source = join(root, "packages/site/src/gallery");
  const names = ["digits", "onnx", "chat", ...labPages.map(({ name }) => `lab/${name}`)];
  const entries = Object.fromEntries(
    names.flatMap((name) =>
      [name, `${name}-worker`].map((part) => [
        part.replace("lab/", ""),
        join(source, `${part}.ts`),
      ]),
    ),
  );
  const page = (title: string, description: string, body: string, name?: string): string =>
    framed({
      title,
      description,
      root: "../",
      part: "Gallery",
      kind: name ? "demo" : "doc",
      body,
      scripts: name ? [`${name}.js`] : [],
    });
  const files = {
    ...(await scripts(root, entries, { chunks: "chunks" })),
    "digits.bin": await digitsFile(root),
    "sketch.onnx": await sketchFile(),
    "index.html": page("Kiln gallery", "Models that train and run in the page", cards),
    "digits.html": page("Draw a digit", "A network that learns in the page", digitsBody, "digits"),
    ...Object.fromEntries(
      labPages.map((lab) => [
        `${lab.name}.html`,
        page(lab.title, lab.card, labBody(lab), lab.name),
      ]),
    ),
    "chat.html": page("Talk to a model", "Language models in the page", chatBody, "chat"),
    ...tellerFiles(root),
    "onnx.html": page("Drop an ONNX file", "ONNX models run in the page", onnxBody, "onnx"),
  };
  return Object.fromEntries(
    Object.entries(files).map(([path, content]) => [`gallery/${path}`, content]),
  );
}
