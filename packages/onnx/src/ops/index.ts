/**
 * The table of ops, by family. An op is one row; adding one is adding a row.
 */
import type { Row } from "../row.ts";
import { activationRows } from "./activation.ts";
import { arithmeticRows } from "./arithmetic.ts";
import { attentionRows } from "./attention.ts";
import { batchNormRows } from "./batch-norm.ts";
import { castRows } from "./cast.ts";
import { classicRows } from "./classic.ts";
import { columnRows } from "./columns.ts";
import { constantRows } from "./constant.ts";
import { controlRows } from "./control.ts";
import { convolutionRows } from "./convolution.ts";
import { einsumRows } from "./einsum.ts";
import { elementaryRows } from "./elementary.ts";
import { gatherRows } from "./gather.ts";
import { generateRows } from "./generate.ts";
import { gramRows } from "./grams.ts";
import { gridRows } from "./grid.ts";
import { linearAttentionRows } from "./linear-attention.ts";
import { logicRows } from "./logic.ts";
import { lossRows } from "./loss.ts";
import { microsoftRows } from "./microsoft.ts";
import { microsoftAttentionRows } from "./microsoft-attention.ts";
import { normRows } from "./norm.ts";
import { partRows } from "./parts.ts";
import { pickRows } from "./pick.ts";
import { poolRows } from "./pool.ts";
import { productRows } from "./product.ts";
import { quantizeRows } from "./quantize.ts";
import { quantizedFloatRows } from "./quantized-float.ts";
import { quantizedProductRows } from "./quantized-product.ts";
import { randomRows } from "./random.ts";
import { recurrentRows } from "./recurrent.ts";
import { reduceRows } from "./reduce.ts";
import { resizeRows } from "./resize.ts";
import { roiRows } from "./roi.ts";
import { sequenceRows } from "./sequence.ts";
import { shapeRows } from "./shape.ts";
import { signalRows } from "./signal.ts";
import { softmaxRows } from "./softmax.ts";
import { suppressRows } from "./suppress.ts";
import { trainingRows } from "./training.ts";
import { treeRows } from "./tree.ts";

export const rows: readonly Row[] = [
  ...elementaryRows,
  ...arithmeticRows,
  ...logicRows,
  ...activationRows,
  ...castRows,
  ...constantRows,
  ...randomRows,
  ...reduceRows,
  ...softmaxRows,
  ...batchNormRows,
  ...normRows,
  ...lossRows,
  ...productRows,
  ...einsumRows,
  ...attentionRows,
  ...linearAttentionRows,
  ...microsoftAttentionRows,
  ...microsoftRows,
  ...trainingRows,
  ...quantizeRows,
  ...quantizedProductRows,
  ...quantizedFloatRows,
  ...shapeRows,
  ...partRows,
  ...generateRows,
  ...gatherRows,
  ...convolutionRows,
  ...poolRows,
  ...pickRows,
  ...suppressRows,
  ...signalRows,
  ...classicRows,
  ...treeRows,
  ...resizeRows,
  ...gridRows,
  ...roiRows,
  ...columnRows,
  ...gramRows,
  ...recurrentRows,
  ...controlRows,
  ...sequenceRows,
];

const byName = new Map(rows.map((r) => [`${r.domain}::${r.op}`, r]));

export const findRow = (domain: string, op: string): Row | undefined =>
  byName.get(`${domain}::${op}`);
