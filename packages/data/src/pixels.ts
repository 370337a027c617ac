/**
 * What a page shows as what networks take, and back: canvases, images, videos and frames of them as
 * planes of floats. Draws where a page or a worker can; pixels that are bytes already need neither.
 */
import {
  checkOptions,
  DtypeError,
  fromHost,
  GraphError,
  kindOf,
  type OptionNames,
  printShape,
  ShapeError,
} from "@kiln-ml/ir";
import { resizeImage } from "./image.ts";

/** Bytes of red, green, blue and alpha, row by row: an ImageData. */
export interface PixelBytes {
  readonly data: Uint8ClampedArray | Uint8Array;
  readonly width: number;
  readonly height: number;
}

/**
 * An ImageData, or what a canvas draws: canvas, ImageBitmap, image element, video element,
 * VideoFrame.
 */
export type PixelSource =
  | PixelBytes
  | { readonly width: number; readonly height: number }
  | { readonly displayWidth: number; readonly displayHeight: number };

/** `"chw"` has a plane a channel, `"hwc"` the channels of a pixel side by side. */
export type PixelLayout = "chw" | "hwc";

interface Scaling {
  /** Where the channels are; "chw" by default. */
  readonly layout?: PixelLayout;
  /** Taken from the values from 0 to 1, one a channel or one for all; 0 by default. */
  readonly mean?: number | readonly number[];
  /** Divides what is left, one a channel or one for all; 1 by default. */
  readonly std?: number | readonly number[];
}

export interface FromPixelsOptions extends Scaling {
  /** 1 is grey by the weights of Rec. 601, 3 is colour, 4 has alpha; 3 by default. */
  readonly channels?: 1 | 3 | 4;
  /**
   * What it is resized to, [height, width]; its own size by default. Bytes are resized as by
   * `resizeImage`, what is drawn as the canvas does.
   */
  readonly size?: readonly [height: number, width: number];
}

const fromPixelsOptions: OptionNames<FromPixelsOptions> = {
  layout: 1,
  mean: 1,
  std: 1,
  channels: 1,
  size: 1,
};

/** What a compiled function or a model takes for an input: a batch of one picture. */
export interface PixelTensor {
  readonly data: Float32Array;
  /** [1, channels, height, width], or [1, height, width, channels] for the layout "hwc". */
  readonly shape: [number, number, number, number];
}

/**
 * Pixels as a batch of one picture, x = (byte / 255 − mean) / std.
 *
 * source: an ImageData, or what a canvas can draw → f32[1, channels, height, width]. A video gives
 * the frame that it shows. Throws GraphError for anything else, ShapeError for what has no pixels.
 * `tf.browser.fromPixels`, which gives bytes, and no batch.
 *
 * @example
 *   const image = { data: Uint8Array.of(255, 0, 51, 255), width: 1, height: 1 };
 *   const x = data.fromPixels(image, { mean: 0.5 });
 *   x.data // [0.5, −0.5, −0.3]; red, green and blue
 *   x.shape // [1, 3, 1, 1]; `{ image: x }` is what a model takes
 */
export function fromPixels(source: PixelSource, options: FromPixelsOptions = {}): PixelTensor {
  const given = checkOptions("fromPixels", options, fromPixelsOptions);
  const { channels = 3, layout = "chw", size } = given;
  checkChannels("fromPixels", channels);
  checkLayout("fromPixels", layout);
  if (size) checkSize(size);
  const { data, width, height } = bytesOf(source, size);
  const [scale, bias] = affine("fromPixels", given, channels);
  const count = width * height;
  const out = new Float32Array(channels * count);
  const [pixelStep, channelStep] = layout === "chw" ? [1, count] : [channels, 1];
  for (let i = 0; i < count; i++) {
    const at = 4 * i;
    if (channels === 1) {
      const grey = 0.299 * data[at]! + 0.587 * data[at + 1]! + 0.114 * data[at + 2]!;
      out[i] = grey * scale[0]! + bias[0]!;
      continue;
    }
    for (let c = 0; c < channels; c++)
      out[i * pixelStep + c * channelStep] = data[at + c]! * scale[c]! + bias[c]!;
  }
  const shape: PixelTensor["shape"] =
    layout === "chw" ? [1, channels, height, width] : [1, height, width, channels];
  return { data: out, shape };
}

/** byte → x as a product and a sum, for each channel. */
function affine(op: string, { mean = 0, std = 1 }: Scaling, channels: number) {
  const each = (what: string, value: number | readonly number[]): number[] => {
    const list = typeof value === "number" ? Array<number>(channels).fill(value) : [...value];
    if (list.length !== channels || !list.every(Number.isFinite))
      throw new ShapeError(
        `${op}: ${what} must be a number, or one for each of ${channels} channels, got ${JSON.stringify(value)}`,
      );
    return list;
  };
  const [means, deviations] = [each("mean", mean), each("std", std)];
  if (deviations.includes(0)) throw new ShapeError(`${op}: std must not be 0`);
  return [deviations.map((s) => 1 / (255 * s)), means.map((m, c) => -m / deviations[c]!)] as const;
}

function checkChannels(op: string, channels: unknown): void {
  if (channels !== 1 && channels !== 3 && channels !== 4)
    throw new ShapeError(`${op}: channels must be 1, 3 or 4, got ${kindOf(channels)}`);
}

function checkLayout(op: string, layout: unknown): void {
  if (layout !== "chw" && layout !== "hwc")
    throw new GraphError(`${op}: layout must be "chw" or "hwc", got ${kindOf(layout)}`);
}

function checkSize(size: unknown): void {
  const ok =
    Array.isArray(size) && size.length === 2 && size.every((n) => Number.isSafeInteger(n) && n > 0);
  if (!ok)
    throw new ShapeError(
      `fromPixels: size must be [height, width] in whole pixels, got ${JSON.stringify(size)}`,
    );
}

function bytesOf(source: PixelSource, size: FromPixelsOptions["size"]): PixelBytes {
  const { data, width, height } = (source ?? {}) as Partial<PixelBytes>;
  if (data instanceof Uint8ClampedArray || data instanceof Uint8Array) {
    const wanted = 4 * Number(width) * Number(height);
    if (data.length !== wanted)
      throw new ShapeError(
        `fromPixels: ${width} × ${height} pixels are ${wanted} bytes, got ${data.length}\n  pass red, green, blue and alpha of each`,
      );
    const whole = { data, width: width!, height: height! };
    return size ? resized(whole, size) : whole;
  }
  const [w, h] = extentOf(source);
  const [toHeight, toWidth] = size ?? [h, w];
  const context = drawingOf(toWidth, toHeight);
  context.clearRect(0, 0, toWidth, toHeight);
  context.drawImage(source, 0, 0, toWidth, toHeight);
  return context.getImageData(0, 0, toWidth, toHeight);
}

function resized({ data, width, height }: PixelBytes, [toHeight, toWidth]: readonly number[]) {
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.length);
  const picture = resizeImage({ data: bytes, shape: [height, width, 4] }, toHeight!, toWidth!);
  return { data: picture.data, width: toWidth!, height: toHeight! };
}

/** The names by which elements and frames say how many pixels they have, the best first. */
const extents = [
  ["videoWidth", "videoHeight"],
  ["naturalWidth", "naturalHeight"],
  ["displayWidth", "displayHeight"],
  ["width", "height"],
] as const;

function extentOf(source: unknown): readonly [number, number] {
  const found = source as Readonly<Record<string, unknown>> | null;
  const names = extents.find(([w]) => typeof found?.[w] === "number");
  if (typeof source !== "object" || !names)
    throw new GraphError(
      `fromPixels: takes a canvas, an image, a video, a frame or an ImageData, got ${kindOf(source)}`,
    );
  const [width, height] = [Number(found![names[0]]), Number(found![names[1]])];
  if (!(width > 0 && height > 0))
    throw new ShapeError(
      `fromPixels: the source has ${width} × ${height} pixels\n  wait until it is loaded: image.decode(), or a video's event loadeddata`,
    );
  return [width, height];
}

/** As much of a canvas as is used, so that no program needs the types of a page. */
interface Drawing {
  clearRect(x: number, y: number, width: number, height: number): void;
  drawImage(source: unknown, x: number, y: number, width: number, height: number): void;
  getImageData(x: number, y: number, width: number, height: number): PixelBytes;
}

interface Canvas {
  width: number;
  height: number;
  getContext(kind: string, options?: object): unknown;
}

let scratch: Canvas | undefined;

/** One canvas serves all calls: a video asks for sixty a second. */
function drawingOf(width: number, height: number): Drawing {
  const scope = globalThis as unknown as {
    OffscreenCanvas?: new (width: number, height: number) => Canvas;
    document?: { createElement(name: string): Canvas };
  };
  scratch ??= scope.OffscreenCanvas
    ? new scope.OffscreenCanvas(width, height)
    : scope.document?.createElement("canvas");
  const context = scratch?.getContext("2d", { willReadFrequently: true });
  if (!scratch || !context)
    throw new GraphError(
      "fromPixels: nothing can be drawn here\n  in Node, use decodeImage, or pass { data, width, height }",
    );
  if (scratch.width !== width) scratch.width = width;
  if (scratch.height !== height) scratch.height = height;
  return context as Drawing;
}

/** A value with a picture in it: a tensor, a result of a model, or an array with a shape. */
export interface PictureValue {
  readonly data: ArrayLike<number> | (() => Promise<ArrayLike<number | bigint>>);
  readonly shape: readonly unknown[];
  /** Of what stores its values in another form: halves, whose array has bits, and truth values. */
  readonly dtype?: string;
}

export interface ToPixelsOptions extends Scaling {
  /** Drawn into, and given the picture's size; a canvas of the page or an OffscreenCanvas. */
  readonly canvas?: { width: number; height: number; getContext(kind: "2d"): unknown };
}

const toPixelsOptions: OptionNames<ToPixelsOptions> = { layout: 1, mean: 1, std: 1, canvas: 1 };

/**
 * A picture as pixels, byte = round(255 · (x · std + mean)) within 0 to 255; of bool, true is 1;
 * integers are bytes already. Draws them, if a canvas is given.
 *
 * value: [height, width], [c, height, width] or [1, c, height, width] of 1, 3 or 4 channels (behind
 * height and width for the layout "hwc") → bytes of red, green, blue and alpha, an ImageData where
 * there is such. Rejects with ShapeError for other shapes, DtypeError for values that are no
 * numbers. `tf.browser.toPixels`.
 *
 * @example
 *   const { data: bytes, width } = await data.toPixels(tensor([[0, 0.2]]));
 *   bytes // [0, 0, 0, 255, 51, 51, 51, 255]; grey, and opaque
 *   width // 2
 */
export async function toPixels(
  value: PictureValue,
  options: ToPixelsOptions = {},
): Promise<PixelBytes> {
  const given = checkOptions("toPixels", options, toPixelsOptions);
  const { layout = "chw", canvas } = given;
  checkLayout("toPixels", layout);
  const { values, shape } = await read(value);
  const [channels, height, width] = pictureShape(shape, layout);
  const count = height * width;
  if (values.length !== channels * count)
    throw new ShapeError(
      `toPixels: a picture of ${printShape(shape)} has ${channels * count} values, got ${values.length}`,
    );
  const [scale, bias] = affine("toPixels", given, channels);
  const isByte = !isScaled(values, value.dtype);
  const [pixelStep, channelStep] = layout === "chw" ? [1, count] : [channels, 1];
  const bytes = new Uint8ClampedArray(4 * count);
  for (let i = 0; i < count; i++)
    for (let c = 0; c < 4; c++) {
      const from = channels === 1 && c < 3 ? 0 : c;
      const x = from < channels ? Number(values[i * pixelStep + from * channelStep]) : undefined;
      // The array clamps and rounds by itself.
      bytes[4 * i + c] = x === undefined ? 255 : isByte ? x : (x - bias[from]!) / scale[from]!;
    }
  return shown(bytes, width, height, canvas);
}

/** Whether values are from 0 to 1, and not from 0 to 255. */
function isScaled(values: ArrayLike<unknown>, dtype: string | undefined): boolean {
  if (dtype !== undefined) return /^b?f\d|^float|^bool/.test(dtype);
  return !ArrayBuffer.isView(values) || /Float/.test(values.constructor.name);
}

async function read(value: unknown): Promise<{ values: ArrayLike<unknown>; shape: number[] }> {
  const { data, shape, dtype } = (value ?? {}) as Partial<PictureValue>;
  if (data === undefined || !Array.isArray(shape))
    throw new GraphError(
      `toPixels: takes a tensor, or { data, shape }, got ${kindOf(value)}\n  pass a picture: [3, height, width]`,
    );
  const values = typeof data === "function" ? await data.call(value) : data;
  if (typeof values !== "object" || typeof values?.length !== "number")
    throw new DtypeError(`toPixels: data must be an array of numbers, got ${kindOf(values)}`);
  const isBits = values instanceof Uint16Array && (dtype === "f16" || dtype === "bf16");
  const numbers = isBits ? fromHost(dtype, values) : values;
  return { values: numbers, shape: shape.map(Number) };
}

/** [channels, height, width], without the batch. */
function pictureShape(shape: readonly number[], layout: PixelLayout): [number, number, number] {
  const [first, ...rest] = shape;
  const axes = shape.length === 4 && first === 1 ? rest : [...shape];
  if (axes.length === 2) return [1, axes[0]!, axes[1]!];
  const [a, b, c] = axes;
  const [channels, height, width] = layout === "chw" ? [a!, b!, c!] : [c!, a!, b!];
  if (axes.length !== 3 || ![1, 3, 4].includes(channels))
    throw new ShapeError(
      `toPixels: ${printShape(shape)} is no picture of layout ${layout}\n  pass [height, width], or 1, 3 or 4 channels and a batch of at most one`,
    );
  return [channels, height, width];
}

function shown(
  data: Uint8ClampedArray,
  width: number,
  height: number,
  canvas: ToPixelsOptions["canvas"],
): PixelBytes {
  const scope = globalThis as unknown as {
    ImageData?: new (data: Uint8ClampedArray, width: number, height: number) => PixelBytes;
  };
  const pixels = scope.ImageData
    ? new scope.ImageData(data, width, height)
    : { data, width, height };
  if (!canvas) return pixels;
  const context = canvas.getContext("2d") as {
    putImageData(p: object, x: number, y: number): void;
  };
  if (!context)
    throw new GraphError("toPixels: the canvas has a context of another kind than 2d already");
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  context.putImageData(pixels, 0, 0);
  return pixels;
}
