/** Wrong calls of models: each message word for word. */
import { nn, zeros } from "kiln-ml";
import * as vision from "kiln-ml/vision";
import { test } from "uvu";
import * as assert from "uvu/assert";

test("what a model cannot be is refused with what it can", () => {
  const cases: readonly (readonly [() => unknown, string])[] = [
    [
      () => vision.resnet18("cuda" as never),
      'resnet18: there is no backend cuda\n  take "js", "wasm", "native", "webgpu" or "auto"',
    ],
    [
      () => vision.model("resnet500"),
      "vision: there is no model resnet500\n  it knows resnet18, resnet34, resnet50, googlenet, mobilenet_v3_large, mobilenet_v3_small, efficientnet_b0, vit_b_16, unet",
    ],
    [
      () => vision.vitB16({ imageSize: 100 }),
      "vit: imageSize must be a multiple of the patch, which is 16, got 100",
    ],
    [() => vision.unet({ depth: 0 }), "unet: depth must be a whole number of 1 or more, got 0"],
    [
      () => vision.unet({ width: 2, depth: 3 }).forward(zeros([1, 3, 12, 12])),
      "unet: images are [1,3,12,12], not of multiples of 8\n  crop or pad them, or make the model with less depth",
    ],
    [
      () => tiny().forward(zeros([1, 3, 16, 16])),
      "vit: images are [1,3,16,16], must be [N,C,32,32]\n  resize them, or make the model with another imageSize",
    ],
    [
      () => tiny().train([1] as never),
      "vision: takes a loader or a data set of images and labels, got Array\n  data.fromArrays([images, labels], [[3, 32, 32], []]) makes one, imageFolder another",
    ],
    [
      () => nn.skipInit(3 as never),
      "skipInit: takes a function that makes a model, got 3\n  nn.skipInit(() => new Net())",
    ],
  ];
  for (const [call, message] of cases)
    assert.throws(call, (e: Error) => e.message === message || assert.is(e.message, message));
});

const tiny = () =>
  new vision.VisionTransformer(
    { patch: 16, layers: 1, heads: 1, width: 8, hidden: 8 },
    { imageSize: 32 },
  );

test.run();
