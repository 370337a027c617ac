/** The table of ops of graph models, by family. An op is one row; adding one is adding a row. */
import type { Row } from "@kiln-ml/onnx";
import { controlRows } from "./control.ts";
import { convolutionRows } from "./convolution.ts";
import { createRows } from "./create.ts";
import { elementwiseRows } from "./elementwise.ts";
import { gatherRows } from "./gather.ts";
import { imageRows } from "./image.ts";
import { listRows } from "./list.ts";
import { movementRows } from "./movement.ts";
import { poolRows } from "./pool.ts";
import { productRows } from "./product.ts";
import { reduceRows } from "./reduce.ts";
import { sliceRows } from "./slice.ts";

export const graphRows: readonly Row[] = [
  ...elementwiseRows,
  ...reduceRows,
  ...productRows,
  ...convolutionRows,
  ...poolRows,
  ...movementRows,
  ...sliceRows,
  ...gatherRows,
  ...imageRows,
  ...createRows,
  ...controlRows,
  ...listRows,
];
