/**
 * Augmentations as graph: functions of a key and a batch, compiled into the step, with other numbers for each sample and each key. Keys
 * come from `nn.KeyStream` or `random`.
 */
export {
  type AffineOptions,
  affine,
  type CropOptions,
  type FlipOptions,
  flip,
  randomCrop,
  warp,
} from "./shapes.ts";
export { logMel, type MaskOptions, type MelOptions, maskBands } from "./sound.ts";
export {
  type ColorOptions,
  type CutoutOptions,
  colorJitter,
  cutmix,
  cutout,
  fromBytes,
  type MixOptions,
  mixup,
  noise,
  type TimeShiftOptions,
  timeShift,
} from "./values.ts";
