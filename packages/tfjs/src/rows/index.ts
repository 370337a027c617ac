/** The table: kernels of TensorFlow.js by name, each with what it is in the IR. */
import type { Rows } from "../row.ts";
import { convolution } from "./convolution.ts";
import { elementwise } from "./elementwise.ts";
import { gathers } from "./gather.ts";
import { image } from "./image.ts";
import { movement } from "./movement.ts";
import { pool } from "./pool.ts";
import { product } from "./product.ts";
import { reduce } from "./reduce.ts";

export const rows: Rows = {
  ...elementwise,
  ...reduce,
  ...movement,
  ...product,
  ...convolution,
  ...pool,
  ...gathers,
  ...image,
};
