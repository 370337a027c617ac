/**
 * Models for images by name, on any target, with torchvision's names of weights. Builders of graphs like layers; `train` is
 * `@kiln-ml/train`'s.
 */
import { GraphError, kindOf } from "@kiln-ml/ir";
import type { Backend } from "@kiln-ml/train";
import { efficientnetB0 } from "./efficientnet.ts";
import { googlenet } from "./googlenet.ts";
import { mobilenetV3Large, mobilenetV3Small } from "./mobilenet-v3.ts";
import type { ModelOptions, VisionModel } from "./model.ts";
import { resnet18, resnet34, resnet50 } from "./resnet.ts";
import { unet } from "./unet.ts";
import { vitB16 } from "./vit.ts";

export { boxIou, type NmsOptions, nms } from "./boxes.ts";
export { hsvToRgb, rgbToGray, rgbToHsv } from "./colors.ts";
export { type ComponentOptions, connectedComponents } from "./components.ts";
export { EfficientNet, efficientnetB0 } from "./efficientnet.ts";
export {
  boxBlur,
  dilate,
  erode,
  type FilterOptions,
  filter2d,
  medianBlur,
} from "./filters.ts";
export { GoogLeNet, type GoogLeNetOptions, googlenet } from "./googlenet.ts";
export { MobileNetV3, mobilenetV3Large, mobilenetV3Small } from "./mobilenet-v3.ts";
export { type ImageData, type ModelOptions, type TrainConfig, VisionModel } from "./model.ts";
export { SqueezeExcitation, StochasticDepth } from "./parts.ts";
export {
  ResNet,
  type ResNetBlock,
  type ResNetOptions,
  resnet18,
  resnet34,
  resnet50,
} from "./resnet.ts";
export { UNet, type UNetOptions, unet } from "./unet.ts";
export { VisionTransformer, type VitOptions, type VitSizes, vitB16 } from "./vit.ts";

/** The models by torchvision's names. */
const byName: Readonly<Record<string, (backend?: Backend, options?: ModelOptions) => VisionModel>> =
  {
    resnet18,
    resnet34,
    resnet50,
    googlenet,
    mobilenet_v3_large: mobilenetV3Large,
    mobilenet_v3_small: mobilenetV3Small,
    efficientnet_b0: efficientnetB0,
    vit_b_16: vitB16,
    unet,
  };

/** Names that `model` takes. */
export const modelNames: readonly string[] = Object.keys(byName);

/**
 * A model by torchvision's name: `model("resnet18", "wasm", { classes: 10 })`. Throws GraphError for a name that is not in `modelNames`.
 */
export function model(name: string, backend?: Backend, options?: ModelOptions): VisionModel {
  if (typeof name !== "string" || !Object.hasOwn(byName, name))
    throw new GraphError(
      `vision: there is no model ${typeof name === "string" ? name : kindOf(name)}\n  it knows ${modelNames.join(", ")}`,
    );
  return byName[name]!(backend, options);
}
