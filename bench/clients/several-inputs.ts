/**
 * Models of two inputs of different kinds: CLIP, of text and images, and Whisper, of sound and
 * text.
 */
import { Graph } from "./graph.ts";
import { attention, causalBias, dense, mlp, norm, type Size } from "./transformer-blocks.ts";

/** Pre-norm layers over x. */
function layers(g: Graph, x: string, size: Size, bias: string | undefined): string {
  let y = x;
  for (let i = 0; i < size.layers; i++) {
    y = g.op("Add", [y, attention(g, norm(g, y, size.hidden), size, bias).y]);
    y = g.op("Add", [y, mlp(g, norm(g, y, size.hidden), size.hidden)]);
  }
  return norm(g, y, size.hidden);
}

/** The row of a table for each position of x: [length, hidden]. */
function positions(g: Graph, x: string, axis: number, most: number, hidden: number): string {
  const length = g.op("Gather", [g.op("Shape", [x]), g.ints([axis], [])], { axis: 0 });
  const places = g.op("Range", [g.ints([0], []), length, g.ints([1], [])]);
  return g.op("Gather", [g.weight([most, hidden], 0.1), places]);
}

function patches(g: Graph, pixels: string, { hidden }: Size, image: number, patch: number): string {
  const kernel = g.weight([hidden, 3, patch, patch], 0.03);
  const sides = { kernel_shape: [patch, patch], strides: [patch, patch] };
  const parts = g.op("Conv", [pixels, kernel], sides);
  const rows = g.op("Transpose", [g.op("Reshape", [parts, g.ints([0, hidden, -1])])], {
    perm: [0, 2, 1],
  });
  return g.op("Add", [rows, g.weight([1, (image / patch) ** 2, hidden], 0.2)]);
}

/** x over its length. */
function unit(g: Graph, x: string): string {
  const length = g.op("ReduceL2", [x, g.ints([-1])], { keepdims: 1 });
  return g.op("Div", [x, length]);
}

/** Texts and images, their embeddings and how near they are. Radford et al. 2021, figure 3. */
export function clip(size: Size, vocabulary: number, image: number, patch: number): Uint8Array {
  const g = new Graph();
  const { hidden } = size;
  const ids = g.input("input_ids", "int64", ["text_batch_size", "sequence_length"]);
  const pixels = g.input("pixel_values", "float32", ["image_batch_size", 3, image, image]);
  const mask = g.input("attention_mask", "int64", ["text_batch_size", "sequence_length"]);
  const words = g.op("Gather", [g.weight([vocabulary, hidden], 0.3), ids]);
  const placed = g.op("Add", [words, positions(g, ids, 1, 128, hidden)]);
  const text = layers(g, placed, size, causalBias(g, ids, mask));
  const last = g.op("Gather", [text, g.ints([-1], [])], { axis: 1 });
  const seen = layers(g, patches(g, pixels, size, image, patch), size, undefined);
  const mean = g.op("ReduceMean", [seen, g.ints([1])], { keepdims: 0 });
  const texts = unit(g, dense(g, last, hidden, hidden));
  const images = unit(g, dense(g, mean, hidden, hidden));
  const turned = g.op("Transpose", [texts], { perm: [1, 0] });
  const near = g.op("Mul", [g.op("MatMul", [images, turned]), g.float(10)]);
  g.output("logits_per_image", near, ["image_batch_size", "text_batch_size"]);
  g.output("text_embeds", texts, ["text_batch_size", hidden]);
  g.output("image_embeds", images, ["image_batch_size", hidden]);
  return g.bytes();
}

/** Two convolutions over the spectrum, the second of stride 2, and layers. */
function whisperEncoder(size: Size, bins: number): Uint8Array {
  const g = new Graph();
  const { hidden } = size;
  const sound = g.input("input_features", "float32", ["batch_size", bins, "frames"]);
  const conv = (x: string, from: number, stride: number): string => {
    const kernel = g.weight([hidden, from, 3], 0.7 / Math.sqrt(3 * from));
    const y = g.op("Conv", [x, kernel, g.weight([hidden], 0.02)], {
      kernel_shape: [3],
      strides: [stride],
      pads: [1, 1],
    });
    return g.op("Mul", [y, g.op("Sigmoid", [y])]);
  };
  const heard = conv(conv(sound, bins, 1), hidden, 2);
  const rows = g.op("Transpose", [heard], { perm: [0, 2, 1] });
  const x = g.op("Add", [rows, positions(g, rows, 1, 512, hidden)]);
  const shape = ["batch_size", "encoder_sequence_length", hidden];
  g.output("last_hidden_state", layers(g, x, size, undefined), shape);
  return g.bytes();
}

/** Layers that look at what was said before, by a cache, and at the encoder's rows. */
function whisperDecoder(size: Size, vocabulary: number): Uint8Array {
  const g = new Graph();
  const { hidden, heads } = size;
  const ids = g.input("input_ids", "int64", ["batch_size", "decoder_sequence_length"]);
  const shape = ["batch_size", "encoder_sequence_length", hidden];
  const encoded = g.input("encoder_hidden_states", "float32", shape);
  const depth = hidden / heads;
  const past = Array.from({ length: size.layers }, (_, i) => {
    const cache = (kind: string, length: string): string =>
      g.input(`past_key_values.${i}.${kind}`, "float32", ["batch_size", heads, length, depth]);
    const own = ["key", "value"].map((k) => cache(`decoder.${k}`, "past_decoder_sequence_length"));
    for (const k of ["key", "value"]) cache(`encoder.${k}`, "encoder_sequence_length_out");
    return own as unknown as readonly [string, string];
  });
  const table = g.weight([vocabulary, hidden], 0.3);
  const seen = extentOf(g, past[0]![0], 2);
  const all = g.op("Add", [seen, extentOf(g, ids, 1)]);
  const places = g.op("Range", [seen, all, g.ints([1], [])]);
  const placed = g.op("Gather", [g.weight([128, hidden], 0.1), places]);
  let x = g.op("Add", [g.op("Gather", [table, ids]), placed]);
  const bias = laterBias(g, seen, all);
  for (let i = 0; i < size.layers; i++) {
    const own = attention(g, norm(g, x, hidden), size, bias, past[i]);
    x = g.op("Add", [x, own.y]);
    const cross = attention(g, norm(g, x, hidden), size, undefined, undefined, encoded);
    x = g.op("Add", [x, cross.y]);
    x = g.op("Add", [x, mlp(g, norm(g, x, hidden), hidden)]);
    for (const [kind, { key, value }] of Object.entries({ decoder: own, encoder: cross })) {
      const extents = ["batch_size", heads, `${kind}_sequence_length_now`, depth];
      g.output(`present.${i}.${kind}.key`, key, extents);
      g.output(`present.${i}.${kind}.value`, value, extents);
    }
  }
  const logits = g.op("MatMul", [norm(g, x, hidden), g.op("Transpose", [table], { perm: [1, 0] })]);
  g.output("logits", logits, ["batch_size", "decoder_sequence_length", vocabulary]);
  return g.bytes();
}

const extentOf = (g: Graph, x: string, axis: number): string =>
  g.op("Gather", [g.op("Shape", [x]), g.ints([axis], [])], { axis: 0 });

/** −10⁴ for what comes after a row: [1, 1, all − seen, all]. */
function laterBias(g: Graph, seen: string, all: string): string {
  const one = g.ints([1], []);
  const rows = g.op("Unsqueeze", [g.op("Range", [seen, all, one]), g.ints([1])]);
  const columns = g.op("Unsqueeze", [g.op("Range", [g.ints([0], []), all, one]), g.ints([0])]);
  const later = g.op("Cast", [g.op("Greater", [columns, rows])], { to: 1 });
  return g.op("Unsqueeze", [g.op("Mul", [later, g.float(-1e4)]), g.ints([0, 1])]);
}

/** The encoder and the decoder by the names of their files. Radford et al. 2022, figure 1. */
export const whisper = (
  size: Size,
  vocabulary: number,
  bins: number,
): Readonly<Record<string, Uint8Array>> => ({
  encoder_model: whisperEncoder(size, bins),
  decoder_model_merged: whisperDecoder(size, vocabulary),
});
