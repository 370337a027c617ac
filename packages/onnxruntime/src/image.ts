/**
 * Images to tensors and back, where the platform has a canvas or an ImageData. A pixel p of a channel becomes (p + bias) / mean, by
 * default p / 255 in channels R, G, B. Back it is (v − bias) · mean, as programs expect, which is the inverse only where bias is 0.
 */
import type { ElementType, NumberArray } from "./element-arrays.ts";
import { fetched } from "./model-file.ts";
import type { ImageFormat, ImageTensorLayout } from "./tensor.ts";

type Channels = number | readonly number[];

interface Normalization {
  readonly mean?: Channels;
  readonly bias?: Channels;
}

export interface ImageOptions {
  readonly tensorFormat?: ImageFormat;
  readonly tensorLayout?: ImageTensorLayout;
  readonly dataType?: "float32" | "uint8";
  readonly resizedHeight?: number;
  readonly resizedWidth?: number;
  /** Of an image from a URL, where it is not resized. */
  readonly height?: number;
  readonly width?: number;
  readonly norm?: Normalization;
}

export interface ToImageOptions {
  readonly format?: ImageFormat;
  readonly tensorLayout?: ImageTensorLayout;
  readonly norm?: Normalization;
}

export type ImageSource = ImageData | ImageBitmap | HTMLImageElement | string;

type Canvas = OffscreenCanvas | HTMLCanvasElement;
type Context = OffscreenCanvasRenderingContext2D | CanvasRenderingContext2D;

const noPixels = (): Error => new Error("Can not access image data");

function contextOf(width: number, height: number, element = false): Context {
  let canvas: Canvas | undefined;
  if (element || typeof OffscreenCanvas === "undefined") {
    if (typeof document === "undefined") throw new Error("Canvas is not supported");
    canvas = Object.assign(document.createElement("canvas"), { width, height });
  } else canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d") as Context | null;
  if (!context) throw noPixels();
  return context;
}

const isImageData = (x: unknown): x is ImageData =>
  typeof ImageData !== "undefined" && x instanceof ImageData;

async function bitmapOf(source: ImageSource): Promise<ImageBitmap | HTMLImageElement> {
  if (typeof createImageBitmap === "undefined") throw noPixels();
  if (isImageData(source)) return createImageBitmap(source);
  if (typeof source !== "string") return source;
  return createImageBitmap(new Blob([(await fetched(source)) as Uint8Array<ArrayBuffer>]));
}

/** The pixels of a source in the size asked for. */
async function readPixels(source: ImageSource, options: ImageOptions): Promise<ImageData> {
  const { resizedWidth, resizedHeight } = options;
  if ((resizedWidth === undefined) !== (resizedHeight === undefined))
    throw new Error("fromImage: resizedWidth and resizedHeight come together");
  if (isImageData(source) && resizedWidth === undefined) return source;
  const drawn = await bitmapOf(source);
  const natural = "naturalWidth" in drawn ? [drawn.naturalWidth, drawn.naturalHeight] : undefined;
  const width = resizedWidth ?? options.width ?? natural?.[0] ?? drawn.width;
  const height = resizedHeight ?? options.height ?? natural?.[1] ?? drawn.height;
  const context = contextOf(width, height);
  context.drawImage(drawn, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

/** Where R, G, B and A of a pixel go among the channels of a tensor; −1 where it has none. */
function placesOf(format: ImageFormat): readonly number[] {
  if (!/^(RGB|RGBA|BGR|RBG)$/.test(format))
    throw new Error(`image: there is no format ${format}\n  it is RGB, RGBA, BGR or RBG`);
  return [..."RGBA"].map((channel) => format.indexOf(channel));
}

const perChannel = (value: Channels | undefined, byDefault: number): readonly number[] =>
  [0, 1, 2, 3].map((i) => (typeof value === "number" ? value : (value?.[i] ?? byDefault)));

/** What the element of pixel `i` and channel `c` is, of `count` channels and `size` pixels. */
const indexIn = (layout: ImageTensorLayout | undefined, count: number, size: number) =>
  layout === "NHWC"
    ? (i: number, c: number): number => i * count + c
    : (i: number, c: number): number => c * size + i;

export async function pixelsOf(
  source: ImageSource,
  options: ImageOptions = {},
): Promise<{ type: ElementType; data: NumberArray; dims: readonly number[] }> {
  const { data: pixels, width, height } = await readPixels(source, options);
  const { tensorFormat = "RGB", tensorLayout, dataType = "float32", norm = {} } = options;
  const places = placesOf(tensorFormat);
  const [size, count] = [width * height, tensorFormat.length];
  const mean = perChannel(norm.mean, dataType === "float32" ? 255 : 1);
  const bias = perChannel(norm.bias, 0);
  const at = indexIn(tensorLayout, count, size);
  const data = dataType === "uint8" ? new Uint8Array(size * count) : new Float32Array(size * count);
  for (const [channel, place] of places.entries())
    for (let i = 0; place >= 0 && i < size; i++)
      data[at(i, place)] = (pixels[4 * i + channel]! + bias[channel]!) / mean[channel]!;
  const dims = tensorLayout === "NHWC" ? [1, height, width, count] : [1, count, height, width];
  return { type: dataType, data, dims };
}

interface Pixels {
  readonly data: unknown;
  readonly dims: readonly number[];
  readonly type: string;
}

export function imageDataOf(
  { data, dims, type }: Pixels,
  { format = "RGB", tensorLayout, norm = {} }: ToImageOptions = {},
): ImageData {
  if (typeof ImageData === "undefined") throw noPixels();
  const places = placesOf(format);
  const last = tensorLayout === "NHWC";
  const [count, height, width] = last ? [dims[3], dims[1], dims[2]] : dims.slice(1);
  if (dims.length !== 4 || dims[0] !== 1 || count !== format.length)
    throw new Error(
      `toImageData: a tensor of [${dims}] is no ${format} image\n  it takes ${last ? "[1, height, width, channels]" : "[1, channels, height, width]"}`,
    );
  const size = height! * width!;
  const mean = perChannel(norm.mean, type === "uint8" ? 1 : 255);
  const bias = perChannel(norm.bias, 0);
  const at = indexIn(tensorLayout, count, size);
  // Clamped to bytes, and opaque where the tensor says nothing.
  const pixels = new Uint8ClampedArray(4 * size).fill(255);
  const values = data as ArrayLike<number>;
  for (const [channel, place] of places.entries())
    for (let i = 0; place >= 0 && i < size; i++)
      pixels[4 * i + channel] = (Number(values[at(i, place)]) - bias[channel]!) * mean[channel]!;
  return new ImageData(pixels, width!, height!);
}

export function imageUrlOf(tensor: Pixels, options?: ToImageOptions): string {
  const image = imageDataOf(tensor, options);
  if (typeof document === "undefined") throw new Error("toDataURL is not supported");
  const context = contextOf(image.width, image.height, true) as CanvasRenderingContext2D;
  context.putImageData(image, 0, 0);
  return context.canvas.toDataURL();
}
