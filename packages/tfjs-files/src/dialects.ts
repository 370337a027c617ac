/** Where the rows of graph models and of layers models are found. Both may use those of ONNX. */
import { type Dialect, findRow, type Row } from "@kiln-ml/onnx";
import { domain } from "./graph/read-nodes.ts";
import { layerDomain } from "./layers/layer.ts";
import { layerRows } from "./layers/rows.ts";
import { graphRows } from "./rows/index.ts";
import { refused } from "./rows/refused.ts";

function dialectOf(
  own: string,
  noun: string,
  rows: readonly Row[],
  why: Dialect["refused"],
): Dialect {
  const byOp = new Map(rows.map((r) => [r.op, r]));
  return {
    name: "tfjs",
    domain: own,
    noun,
    loader: "loadTfjs",
    find: (domain, op) => (domain === own ? byOp.get(op) : findRow(domain, op)),
    refused: why,
  };
}

export const graphDialect: Dialect = dialectOf(domain, "op", graphRows, refused);
export const layersDialect: Dialect = dialectOf(layerDomain, "layer", layerRows, new Map());
