/** `docs/onnx.md`: one row an op of ONNX, read off the table of the importer. */
import { refused, rows } from "@kiln-ml/onnx";
import { banner, table } from "./source.ts";

const domains: Readonly<Record<string, string>> = {
  "": "## Standard ops",
  "com.microsoft": "## Ops of ONNX Runtime (`com.microsoft`)",
  "ai.onnx.ml": "## Classical models (`ai.onnx.ml`)",
};

const section = (domain: string): string => {
  const own = rows.filter((r) => r.domain === domain);
  own.sort((a, b) => (a.op < b.op ? -1 : 1));
  if (!own.length) return "";
  const lines = own.map((r) => [`\`${r.op}\``, r.note ? "in part" : "yes", r.note ?? ""]);
  return `${domains[domain]}\n\n${table([["op", "imported", "not taken"], ...lines])}\n`;
};

/** The text of `docs/onnx.md`. */
export function onnxPage(): string {
  const left = [...refused].map(([op, why]) => [`\`${op}\``, why]);
  return `${banner}

# ONNX ops

\`loadOnnx\` of \`kiln-ml/onnx\` reads models of opset 7 to 27. Elements of strings, complex numbers and 8-bit floats cannot be held; 64-bit integers are
held in 32 bits, and a value beyond is an error: of the file and of inputs at once, and of what \`run\` computes after it, with the name of the
node. Nodes whose results surely fit, as indices, extents and counts do, cost nothing; the others a flag, those in bodies of \`If\`, \`Loop\` and
\`Scan\` one for each trip. Programs made with \`apply\`, and artifacts, have no flags, and wrap. The types of a model's inputs and outputs stay
what the file says.

${Object.keys(domains).map(section).join("\n")}
## Left out

A model with one of these, or with an op that stands nowhere on this page, is refused before anything is built, with all such ops in one
message. A function that the model brings along for an op counts as that op.

${table([["op", "why"], ...left])}
`;
}
