/** `docs/ops.md`: one row an op, read off the records and off the comments of the functions that make the nodes. */
import {
  type Attrs,
  allOps,
  type Dtype,
  type Family,
  input,
  makeNode,
  type OpRecord,
  type ResultType,
  type Tensor,
} from "@kiln-ml/ir";
import { banner, commentText, firstParagraph, sourcesIn, table } from "./source.ts";

const dtypes: readonly Dtype[] = ["f64", "f32", "f16", "bf16", "i32", "u32", "i8", "u8", "bool"];

/** How to build one node of an op that takes attributes; `T` stands for the dtype that is tried. */
interface Sample {
  readonly operands: readonly (readonly [Dtype | "T", readonly number[]])[];
  readonly attrs?: Attrs;
  /** The shape of the result where operands do not say it. */
  readonly shape?: readonly number[];
}

const matrix = ["T", [2, 3]] as const;
const reduction: Sample = { operands: [matrix], attrs: { axes: [1] } };
const scan: Sample = { operands: [matrix], attrs: { axis: 1, exclusive: false, reverse: false } };
const one: Sample = { operands: [["i32", [4]]], attrs: { axes: [0] } };
const index = one.operands[0]!;
const convolution = {
  stride: [1],
  low: [0],
  high: [0],
  lhsDilation: [1],
  rhsDilation: [1],
  groups: 1,
};

const samples: Readonly<Record<string, Sample>> = {
  reshape: { operands: [matrix], shape: [6] },
  slice: { operands: [matrix], attrs: { start: [0, 0], limit: [1, 2], stride: [1, 1] } },
  pad: { operands: [matrix, ["T", []]], attrs: { low: [0, 1], high: [0, 0], interior: [0, 0] } },
  concat: { operands: [matrix, matrix], attrs: { axis: 0 } },
  windows: { operands: [matrix], attrs: { size: [2], stride: [1], dilation: [1] } },
  fold: {
    operands: [["T", [2, 2, 2]]],
    attrs: { size: [2], stride: [1], dilation: [1], extent: [3] },
  },
  transpose: { operands: [matrix], attrs: { perm: [1, 0] } },
  broadcastInDim: { operands: [["T", [3]]], attrs: { dims: [1] }, shape: [2, 3] },
  reverse: { operands: [matrix], attrs: { axes: [0] } },
  dotGeneral: {
    operands: [matrix, matrix],
    attrs: { lhsBatch: [], rhsBatch: [], lhsContract: [1], rhsContract: [1] },
  },
  convolution: {
    operands: [
      ["T", [1, 1, 4]],
      ["T", [1, 1, 2]],
    ],
    attrs: convolution,
  },
  gather: { operands: [matrix, index], attrs: { axes: [0] } },
  scatter: { operands: [matrix, ["T", [4, 3]], index], attrs: { axes: [0], mode: "add" } },
  argSort: { operands: [matrix], attrs: { axis: 1, count: 2, descending: true } },
  select: {
    operands: [
      ["bool", [2]],
      ["T", [2]],
      ["T", [2]],
    ],
  },
};

const sampleOf = (r: OpRecord, arity: number): Sample =>
  samples[r.name] ??
  (r.family === "reduce"
    ? reduction
    : r.family === "scan"
      ? scan
      : { operands: new Array(arity).fill(["T", [2]]) });

/** The type of the result for operands of `dtype`, or undefined if the record refuses them. */
function resultOf(r: OpRecord, sample: Sample, dtype: Dtype): ResultType | undefined {
  try {
    const operands = operandsOf(sample, dtype);
    const type = sample.shape && { dtype, shape: sample.shape };
    return r.infer(operands, sample.attrs ?? {}, type);
  } catch {
    return undefined;
  }
}

const operandsOf = (sample: Sample, dtype: Dtype): Tensor[] =>
  sample.operands.map(([d, shape], i) => input(`x${i}`, d === "T" ? dtype : d, shape));

interface Probe {
  readonly rule: string;
  readonly gradient: string;
}

/** What dtypes an op takes and gives, and whether a gradient flows, found by trying. */
function probe(r: OpRecord): Probe {
  if (r.name === "customKernel") return { rule: "f32 i32 u32 f64", gradient: "by its vjp" };
  if (r.family === "source") return { rule: "declared", gradient: "" };
  if (r.family === "control")
    return {
      rule: "of its regions",
      gradient: r.vjpOfAll ? "of its regions" : "by inlining",
    };
  if (r.name === "convert") return { rule: "any → any", gradient: "between floats" };
  if (r.name === "bitcast") return { rule: "between dtypes of one size", gradient: "refused" };
  for (const arity of [1, 2]) {
    const sample = sampleOf(r, arity);
    const found = dtypes.flatMap((d) => {
      const type = resultOf(r, sample, d);
      return type ? [[d, type.dtype] as const] : [];
    });
    if (found.length) return { rule: ruleOf(found), gradient: gradientOf(r, sample, found[0]![0]) };
  }
  throw new Error(`docs: ${r.name} has no sample that its record takes`);
}

function ruleOf(found: readonly (readonly [Dtype, Dtype])[]): string {
  const taken = found.map(([d]) => d);
  const names: Readonly<Record<string, string>> = {
    [dtypes.join()]: "any",
    [dtypes.slice(0, 8).join()]: "number",
    [dtypes.slice(0, 4).join()]: "float",
    [dtypes.slice(4, 8).join()]: "integer",
    [dtypes.slice(4).join()]: "integer or bool",
  };
  const from = names[taken.join()] ?? taken.join(" ");
  if (found.every(([d, to]) => d === to)) return from;
  const to = new Set(found.map(([, d]) => d));
  return to.size === 1 ? `${from} → ${[...to][0]}` : `${from} → promoted`;
}

function gradientOf(r: OpRecord, sample: Sample, dtype: Dtype): string {
  if (!r.vjp) return "refused";
  const operands = operandsOf(sample, dtype);
  const type = resultOf(r, sample, dtype)!;
  const y = makeNode({ op: r.name, operands, attrs: sample.attrs ?? {}, ...type });
  const g = input("g", type.dtype, type.shape);
  return r.vjp(g, y, ...operands).some((t) => t !== undefined) ? "yes" : "none flows";
}

/** Of ops whose nodes no function of their name makes. */
const words: Readonly<Record<string, string>> = {
  data: "Values from the host, as `tensor` makes them.",
  fold: "The transpose of `windows`: y[…, e] = Σ of x[…, o, k] over the o, k with o·stride + k·dilation = e.",
  result: "One of several results of a node with regions.",
};

/** The comment above the exported function that makes nodes of `name`. */
function formulaOf(name: string, sources: readonly { readonly text: string }[]): string {
  if (words[name]) return words[name];
  for (const pattern of [
    `export (?:const|function) ${name}\\b`,
    `export const \\w+[^;]*?\\("(?:\\w+", ")?${name}"`,
  ])
    for (const { text } of sources) {
      const found = new RegExp(`(/\\*\\*(?:(?!\\*/)[^])*\\*/)\\s*(?://[^\\n]*\\n)?${pattern}`).exec(
        text,
      );
      if (found) return firstParagraph(commentText(found[1]!));
    }
  return "";
}

const families: readonly (readonly [Family, string])[] = [
  ["source", "Sources"],
  ["elementwise", "Elementwise"],
  ["movement", "Movement"],
  ["reduce", "Reductions"],
  ["scan", "Cumulative"],
  ["sort", "Sorting"],
  ["contraction", "Contractions"],
  ["gather", "Gather"],
  ["scatter", "Scatter"],
  ["control", "Control"],
];

/** The text of `docs/ops.md`. */
export function opsPage(): string {
  const sources = sourcesIn("packages/ir/src/ops");
  const sections = families.map(([family, title]) => {
    // By name: the order in which modules are run is the bundler's.
    const records = allOps()
      .filter((r) => r.family === family)
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const rows = records.map((r) => {
      const { rule, gradient } = probe(r);
      const ulp = r.ulp === undefined ? "" : String(r.ulp);
      return [`\`${r.name}\``, formulaOf(r.name, sources), rule, gradient, ulp];
    });
    return `## ${title}\n\n${table([["op", "what", "dtypes", "gradient", "ulp"], ...rows])}\n`;
  });
  return `${banner}

# Ops

The primitives of the language: every node of a graph is one of these. Everything else a user calls is made of them.

"dtypes" are those the record takes; the functions broadcast and promote before. "gradient": yes; none flows, as through a comparison; refused, so
that \`grad\` throws. "ulp" is how many units in the last place of f32 a target may be off; 0 is exact.

${sections.join("\n")}`;
}
