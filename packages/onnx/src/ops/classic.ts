/**
 * Ops of ai.onnx.ml that work on numbers: features are picked, scaled and compared. Strings and maps are refused.
 */
import {
  argMax,
  concat,
  convert,
  type Dtype,
  expandDims,
  isFloat,
  isStatic,
  reshape,
  select,
  softmax,
  squeeze,
  type Tensor,
  take,
  tensor,
} from "@kiln-ml/ir";
import type { NodeContext, Result } from "../context.ts";
import { dtypeOf, numbersOfDef } from "../element.ts";
import type { ElementType } from "../proto/model.ts";
import { type Row, type RowOptions, row } from "../row.ts";
import { typed } from "../value.ts";

export const ml = (op: string, build: Row["build"], options: RowOptions = {}): Row =>
  row(op, build, { domain: "ai.onnx.ml", ...options });

/** The columns of x that y names. */
function extracted(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const wide = x.rank === 1 ? reshape(x, [1, x.shape[0]!]) : x;
  const index = n.tensor(1);
  return take(wide, reshape(index, [index.shape.at(-1)!]), -1);
}

interface Labels {
  readonly values: readonly number[];
  readonly type: ElementType;
}

/** Keys or values in one of the forms that attributes have; undefined where there are none. */
function labels(n: NodeContext, prefix: string): Labels | undefined {
  const tensorName = `${prefix}_tensor`;
  if (n.hasAttribute(tensorName)) {
    const def = n.tensorAttribute(tensorName);
    const values = numbersOfDef(def) ?? n.fail(`${tensorName} holds ${def.type}`);
    return { values, type: def.type };
  }
  if (n.hasAttribute(`${prefix}_strings`)) return n.fail("strings have no dtype");
  if (n.hasAttribute(`${prefix}_int64s`))
    return { values: n.ints(`${prefix}_int64s`), type: "int64" };
  if (n.hasAttribute(`${prefix}_floats`))
    return { values: n.floats(`${prefix}_floats`), type: "float32" };
  return undefined;
}

/** The default value; before version 4 of the op by the kind of the values. */
function fallbackOf(n: NodeContext, type: ElementType): number {
  if (n.hasAttribute("default_tensor"))
    return numbersOfDef(n.tensorAttribute("default_tensor"))?.[0] ?? 0;
  return isFloat(dtypeOf(type)) ? n.float("default_float", -0) : n.int("default_int64", -1);
}

const ofValues = (values: readonly number[], dtype: Dtype): Tensor =>
  tensor([...values], { dtype });

/** Each element's value in a list of pairs. */
function encoded(n: NodeContext): Result {
  const x = n.tensor(0);
  const keys = labels(n, "keys") ?? n.fail("keys are missing");
  const values = labels(n, "values") ?? n.fail("values are missing");
  const dtype = dtypeOf(values.type);
  const wide = expandDims(x, x.rank);
  const key = ofValues(keys.values, x.dtype);
  const same = isFloat(x.dtype)
    ? wide.equal(key).or(wide.notEqual(wide).and(key.notEqual(key)))
    : wide.equal(key);
  const found = take(ofValues(values.values, dtype), argMax(convert(same, "i32"), -1));
  const known = same.any([x.rank]);
  return typed(select(known, found, fallbackOf(n, values.type)).convert(dtype), values.type);
}

/** (x − offset) · scale. */
function scaledFeatures(n: NodeContext): Result {
  const x = n.tensor(0).convert("f32");
  const list = (name: string, fallback: number) =>
    n.hasAttribute(name) ? ofValues(n.floats(name), "f32") : fallback;
  return typed(x.sub(list("offset", 0)).mul(list("scale", 1)), "float32");
}

/** Rows divided by their greatest element, the sum of their magnitudes, or their length. */
function normalised(n: NodeContext): Result {
  const x = n.tensor(0).convert("f32");
  const norm = n.string("norm", "MAX");
  const keepDims = true;
  const size =
    norm === "MAX"
      ? x.max(-1, { keepDims })
      : norm === "L1"
        ? x.abs().sum(-1, { keepDims })
        : x.mul(x).sum(-1, { keepDims }).sqrt();
  return typed(select(size.equal(0), x, x.div(size)), "float32");
}

/** x with the value that stands for a missing one replaced. */
function imputed(n: NodeContext): Tensor {
  const x = n.tensor(0);
  const kind = isFloat(x.dtype) ? "float" : "int64";
  const list = kind === "float" ? n.floats("imputed_value_floats") : n.ints("imputed_value_int64s");
  const marker =
    kind === "float" ? n.float("replaced_value_float", 0) : n.int("replaced_value_int64", 0);
  const missing = Number.isNaN(marker) ? x.notEqual(x) : x.equal(marker);
  return select(missing, ofValues(list, x.dtype), x);
}

/** Rows times a matrix of coefficients, one row a target, plus intercepts. */
function scores(n: NodeContext, rows: number): Tensor {
  const all = n.floats("coefficients");
  const weights = tensor(Float32Array.from(all), { shape: [rows, all.length / rows] });
  const y = n.tensor(0).convert("f32").matmul(weights.transpose());
  return n.hasAttribute("intercepts") ? y.add(ofValues(n.floats("intercepts"), "f32")) : y;
}

function linear(n: NodeContext): Result {
  return typed(transformed(n, scores(n, n.int("targets", 1))), "float32");
}

/** What `post_transform` makes of scores. Throws GraphError for PROBIT. */
export function transformed(n: NodeContext, y: Tensor, name?: string): Tensor {
  const transform = name ?? n.string("post_transform", "NONE");
  if (transform === "NONE") return y;
  if (transform === "SOFTMAX") return softmax(y, -1);
  if (transform === "LOGISTIC") return y.sigmoid();
  if (transform !== "SOFTMAX_ZERO") return n.fail(`post_transform ${transform} is not supported`);
  const e = select(y.equal(0), 0, y.sub(y.max(-1, { keepDims: true })).exp());
  return e.div(e.sum(-1, { keepDims: true }));
}

/** The label of the greatest score, and the scores; one row of coefficients scores the second of two classes. */
function linearClassifier(n: NodeContext): Result {
  if (n.hasAttribute("classlabels_strings")) n.fail("strings have no dtype");
  const names = n.ints("classlabels_ints");
  const width = n.tensor(0).shape.at(-1);
  const rows = isStatic(width!) ? n.floats("coefficients").length / width : names.length;
  const y = scores(n, rows);
  const label = (index: Tensor) => typed(take(ofValues(names, "i32"), index), "int64");
  if (rows === names.length) return [label(y.argMax(-1)), typed(transformed(n, y), "float32")];
  const share = transformed(n, y);
  const both = concat([share.neg().add(1), share], 1);
  return [label(squeeze(y.greater(0).convert("i32"), [1])), typed(both, "float32")];
}

/** 1 in the column of each element's category, in a new last axis. */
function categories(n: NodeContext): Result {
  if (n.hasAttribute("cats_strings")) n.fail("strings have no dtype");
  const x = n.tensor(0);
  const list = ofValues(n.ints("cats_int64s"), "i32");
  const y = expandDims(x.convert("i32"), x.rank).equal(list);
  return typed(y.convert("f32"), "float32");
}

export const classicRows: readonly Row[] = [
  ml("ArrayFeatureExtractor", extracted),
  ml("Binarizer", (n) => n.tensor(0).greater(n.float("threshold", 0)).convert(n.tensor(0).dtype)),
  ml("LabelEncoder", encoded, { note: "numbers only" }),
  ml("Scaler", scaledFeatures),
  ml("Normalizer", normalised),
  ml("Imputer", imputed),
  ml("LinearRegressor", linear, { note: "without PROBIT" }),
  ml("LinearClassifier", linearClassifier, { note: "integer labels only, without PROBIT" }),
  ml("OneHotEncoder", categories, { note: "integers only; unknown ones are 0 everywhere" }),
  ml("FeatureVectorizer", (n) => {
    const parts = n.tensors().map((t) => t.convert("f32"));
    return typed(parts.length === 1 ? parts[0]! : concat(parts, 1), "float32");
  }),
];
