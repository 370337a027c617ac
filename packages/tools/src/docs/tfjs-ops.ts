/**
 * `docs/tfjs-ops.md`: one row an op of graph models and a layer of layers models, read off the
 * tables.
 */
import { graphRows, layerRows, refused } from "@kiln-ml/tfjs-files";
import { banner, table } from "./source.ts";

type Rows = readonly { readonly op: string; readonly note?: string }[];

const list = (rows: Rows): string => {
  const own = [...rows].sort((a, b) => (a.op < b.op ? -1 : 1));
  const plain = own.filter((r) => !r.note).map((r) => `\`${r.op}\``);
  const noted = own.filter((r) => r.note).map((r) => [`\`${r.op}\``, r.note!]);
  return `${plain.join(", ")}\n\n${table([["in part", "how"], ...noted])}`;
};

/** The text of `docs/tfjs-ops.md`. */
export function tfjsOpsPage(): string {
  const left = [...refused].map(([op, why]) => [`\`${op}\``, why]);
  return `${banner}

# TensorFlow.js files: ops and layers

What \`loadTfjs\` reads ([tfjs.md](tfjs.md)). A model with something else is refused before anything is built, with all of it in one
message; so is an attribute that a row would leave unread.

## Ops of graph models (${graphRows.length})

${list(graphRows)}

## Layers of layers models (${layerRows.length})

${list(layerRows)}

## Left out

${table([["op", "why"], ...left])}
`;
}
