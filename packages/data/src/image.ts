/**
 * Pictures as bytes [height, width, channels]: PNG by fast-png, JPEG by jpeg-js, told apart by
 * their first bytes. Decoders are loaded where one is needed. Resizing is in bytes too, once before
 * training; what is random belongs into the step.
 */

import { ArtifactError, checkOptions, type OptionNames, printShape, ShapeError } from "@kiln-ml/ir";
import { checkBytes, checkPicture } from "./check.ts";
import { naming } from "./items.ts";

/** u8[height, width, channels], row by row. */
export interface Picture {
  readonly data: Uint8Array;
  readonly shape: readonly [height: number, width: number, channels: number];
}

export interface PictureOptions {
  /** What errors call the file; "image" by default. */
  readonly name?: string;
  /** 1 is grey, 3 is colour, 4 has alpha; 3 by default. */
  readonly channels?: 1 | 3 | 4;
  /** Refuses pictures with more pixels, in millions, before they are decoded; 100 by default. */
  readonly limitMegapixels?: number;
}

const pictureOptions: OptionNames<PictureOptions> = { name: 1, channels: 1, limitMegapixels: 1 };

/**
 * Decodes a PNG or JPEG. Rejects with ArtifactError, the name in front, for a damaged file or one
 * of another kind. `torchvision.io.decode_image`.
 *
 * @param bytes The bytes of the file.
 * @example
 *   const png = await encodePng({ data: Uint8Array.of(10, 20), shape: [1, 2, 1] });
 *   const { data, shape } = await decodeImage(png, { channels: 1 });
 *   data // [10, 20]
 */
export async function decodeImage(
  bytes: Uint8Array,
  options: PictureOptions = {},
): Promise<Picture> {
  const {
    name = "image",
    channels = 3,
    limitMegapixels = 100,
  } = checkOptions("decodeImage", options, pictureOptions);
  checkBytes("decodeImage", bytes);
  const isPng = bytes[0] === 0x89 && bytes[1] === 0x50;
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8;
  if (!isPng && !isJpeg)
    throw naming(
      new ArtifactError(
        `${name}: is neither PNG nor JPEG: starts with bytes ${[...bytes.subarray(0, 4)].join(", ")}`,
      ),
    );
  try {
    const raw = isPng
      ? await decodePng(bytes, limitMegapixels)
      : await decodeJpeg(bytes, limitMegapixels);
    return { data: withChannels(raw, channels), shape: [raw.height, raw.width, channels] };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw naming(
      new ArtifactError(`${name}: ${isPng ? "PNG" : "JPEG"} cannot be decoded: ${text}`, {
        cause: error,
      }),
    );
  }
}

/**
 * A picture of 1, 3 or 4 channels as the bytes of a PNG. Rejects with ShapeError unless its bytes
 * are as many as its shape says. `torchvision.io.encode_png`.
 *
 * @param picture u8[height, width, channels].
 * @example
 *   const png = await encodePng({ data: new Uint8Array(56 * 56), shape: [56, 56, 1] });
 *   [...png.subarray(1, 4)] // [80, 78, 71]; "PNG"
 */
export async function encodePng(picture: Picture): Promise<Uint8Array> {
  checkPicture("encodePng", picture, picture?.shape?.[0], picture?.shape?.[1]);
  const { data, shape } = picture;
  const [height, width, channels] = shape;
  if (data.length !== height * width * channels)
    throw new ShapeError(
      `encodePng: a picture of ${printShape(shape)} has ${height * width * channels} bytes, got ${data.length}`,
    );
  if (channels !== 1 && channels !== 3 && channels !== 4)
    throw new ShapeError(
      `encodePng: a picture of ${channels} channels cannot be written, must be 1, 3 or 4`,
    );
  const { encode } = await import("fast-png");
  return encode({ data, width, height, channels, depth: 8 });
}

interface Raw {
  readonly width: number;
  readonly height: number;
  /** Of `data`: 1 grey, 2 grey and alpha, 3 colour, 4 colour and alpha. */
  readonly channels: number;
  readonly data: Uint8Array;
}

async function decodePng(bytes: Uint8Array, limit: number): Promise<Raw> {
  // Width and height stand at fixed places of the first chunk.
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkPixels(view.getUint32(16), view.getUint32(20), limit);
  const { convertIndexedToRgb, decode } = await import("fast-png");
  const png = decode(bytes, { checkCrc: true });
  const { width, height, depth, channels } = png;
  if (png.palette)
    return {
      width,
      height,
      channels: png.palette[0]?.length ?? 3,
      data: Uint8Array.from(convertIndexedToRgb(png)),
    };
  const count = width * height * channels;
  if (depth === 16)
    return {
      width,
      height,
      channels,
      data: Uint8Array.from(png.data.subarray(0, count), (v) => v >> 8),
    };
  if (depth === 8)
    return { width, height, channels, data: Uint8Array.from(png.data.subarray(0, count)) };
  return { width, height, channels, data: unpacked(png.data as Uint8Array, width, height, depth) };
}

/** Grey of 1, 2 or 4 bits, rows beginning at whole bytes, as bytes from 0 to 255. */
function unpacked(packed: Uint8Array, width: number, height: number, depth: number): Uint8Array {
  const out = new Uint8Array(width * height);
  const rowBytes = Math.ceil((width * depth) / 8);
  const most = 2 ** depth - 1;
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const bit = x * depth;
      const byte = packed[y * rowBytes + (bit >> 3)]!;
      const value = (byte >> (8 - depth - (bit & 7))) & most;
      out[y * width + x] = (value * 255) / most;
    }
  return out;
}

async function decodeJpeg(bytes: Uint8Array, limit: number): Promise<Raw> {
  const { default: jpeg } = await import("jpeg-js");
  const { width, height, data } = jpeg.decode(bytes, {
    useTArray: true,
    formatAsRGBA: false,
    tolerantDecoding: false,
    maxResolutionInMP: limit,
  });
  return { width, height, channels: 3, data };
}

function checkPixels(width: number, height: number, limit: number): void {
  if (width * height > limit * 1e6)
    throw new Error(`${width} × ${height} pixels are more than ${limit} million`);
}

/** Grey from colour by the weights of Rec. 601; alpha is left out, or 255 where there is none. */
function withChannels({ data, width, height, channels: from }: Raw, to: 1 | 3 | 4): Uint8Array {
  if (from === to) return data;
  const pixels = width * height;
  const colour = from >= 3;
  const out = new Uint8Array(pixels * to);
  for (let i = 0; i < pixels; i++) {
    const r = data[i * from]!;
    const g = colour ? data[i * from + 1]! : r;
    const b = colour ? data[i * from + 2]! : r;
    if (to === 1) {
      out[i] = colour ? Math.round(0.299 * r + 0.587 * g + 0.114 * b) : r;
      continue;
    }
    out[i * to] = r;
    out[i * to + 1] = g;
    out[i * to + 2] = b;
    if (to === 4) out[i * 4 + 3] = from % 2 === 0 ? data[i * from + from - 1]! : 255;
  }
  return out;
}

/**
 * Bilinear, and with weights that reach as far as a result's pixel where it is the larger one, as
 * in Pillow; halves round up. `torchvision.transforms.Resize`.
 *
 * @param picture u8[height, width, channels].
 * @param height Rows of the result.
 * @param width Columns of the result.
 * @example
 *   const picture = { data: Uint8Array.of(0, 100), shape: [1, 2, 1] };
 *   resizeImage(picture, 1, 4).data // [0, 25, 75, 100]
 */
export function resizeImage(picture: Picture, height: number, width: number): Picture {
  checkPicture("resizeImage", picture, height, width);
  const [h, w, c] = picture.shape;
  if (h === height && w === width) return picture;
  const columns = weightsOf(w, width);
  const rows = weightsOf(h, height);
  // Across first, into floats, so that it is rounded once.
  const wide = new Float32Array(h * width * c);
  for (let y = 0; y < h; y++)
    for (let x = 0; x < width; x++)
      for (const [at, weight] of columns[x]!)
        for (let k = 0; k < c; k++)
          wide[(y * width + x) * c + k]! += weight * picture.data[(y * w + at) * c + k]!;
  const data = new Uint8Array(height * width * c);
  const line = new Float64Array(width * c);
  for (let y = 0; y < height; y++) {
    line.fill(0);
    for (const [at, weight] of rows[y]!)
      for (let i = 0; i < line.length; i++) line[i]! += weight * wide[at * line.length + i]!;
    for (let i = 0; i < line.length; i++) data[y * line.length + i] = Math.floor(line[i]! + 0.5);
  }
  return { data, shape: [height, width, c] };
}

/** For each place of `to`, the places of `from` that it is made of, with weights that sum to 1. */
function weightsOf(from: number, to: number): [place: number, weight: number][][] {
  const scale = from / to;
  const reach = Math.max(scale, 1);
  return Array.from({ length: to }, (_, i) => {
    const centre = (i + 0.5) * scale;
    const start = Math.max(0, Math.floor(centre - reach + 0.5));
    const end = Math.min(from, Math.floor(centre + reach + 0.5));
    const list: [number, number][] = [];
    let sum = 0;
    for (let at = start; at < end; at++) {
      const weight = Math.max(0, 1 - Math.abs((at + 0.5 - centre) / reach));
      if (weight > 0) list.push([at, weight]);
      sum += weight;
    }
    return list.map(([at, weight]) => [at, weight / sum]);
  });
}

/**
 * The middle, of which no side is longer than the picture's: the larger half of what is left over
 * is below and at the right. `torchvision.transforms.CenterCrop`.
 *
 * @param picture u8[height, width, channels].
 * @param height Rows of the result.
 * @param width Columns of the result.
 * @example
 *   const picture = { data: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9), shape: [3, 3, 1] };
 *   cropImage(picture, 1, 1).data // [5]
 */
export function cropImage(picture: Picture, height: number, width: number): Picture {
  checkPicture("cropImage", picture, height, width);
  const [h, w, c] = picture.shape;
  const [rows, columns] = [Math.min(h, height), Math.min(w, width)];
  const [top, left] = [(h - rows) >> 1, (w - columns) >> 1];
  const data = new Uint8Array(rows * columns * c);
  for (let y = 0; y < rows; y++) {
    const start = ((top + y) * w + left) * c;
    data.set(picture.data.subarray(start, start + columns * c), y * columns * c);
  }
  return { data, shape: [rows, columns, c] };
}
