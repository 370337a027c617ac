/**
 * PyTorch's names and layouts of parameters → those of our layers. Weights have the same layouts; what differs is how
 * running statistics and the weights of recurrent layers are named, and that PyTorch keeps the projections of attention in one
 * matrix.
 */
import type { Constant } from "@kiln-ml/artifact";
import { type RenameRule, remapTensors, type Tensors } from "./remap.ts";

const rules: readonly RenameRule[] = [
  // How often statistics moved is of use only where their momentum is not fixed.
  [/(^|\.)num_batches_tracked$/, null],
  [/(^|\.)running_mean$/, "$1runningMean"],
  [/(^|\.)running_var$/, "$1runningVar"],
  [/(^|\.)weight_hr_l(\d+)_reverse$/, "$1backwards.$2.weightProjection"],
  [/(^|\.)weight_hr_l(\d+)$/, "$1forwards.$2.weightProjection"],
  [/(^|\.)(weight|bias)_ih_l(\d+)_reverse$/, "$1backwards.$3.$2Input"],
  [/(^|\.)(weight|bias)_hh_l(\d+)_reverse$/, "$1backwards.$3.$2Hidden"],
  [/(^|\.)(weight|bias)_ih_l(\d+)$/, "$1forwards.$3.$2Input"],
  [/(^|\.)(weight|bias)_hh_l(\d+)$/, "$1forwards.$3.$2Hidden"],
];

const attention: readonly RenameRule[] = [
  [/(^|\.)q_proj_weight$/, "$1query.weight"],
  [/(^|\.)k_proj_weight$/, "$1key.weight"],
  [/(^|\.)v_proj_weight$/, "$1value.weight"],
  [/(^|\.)out_proj\.(weight|bias)$/, "$1out.$2"],
];

/** What wrappers put before every name. */
const wrappers = /^(module|_orig_mod)\./;

/** The tensors of a PyTorch model as our layers name them. Those that no rule is about keep their names. */
export function fromPytorch(tensors: Tensors): Record<string, Constant> {
  let names = Object.entries(tensors);
  while (names.length > 0 && names.every(([name]) => wrappers.test(name)))
    names = names.map(([name, t]) => [name.replace(wrappers, ""), t]);
  const apart = names.flatMap(([name, t]) => splitProjection(name, t));
  return remapTensors(Object.fromEntries(apart), rulesFor(names.map(([name]) => name)));
}

/** `out_proj` is a name others use too: it is attention's only beside a projection of the inputs. */
function rulesFor(names: readonly string[]): readonly RenameRule[] {
  const attends = names.some((name) => /(^|\.)(in_proj_weight|q_proj_weight)$/.test(name));
  return attends ? [...rules, ...attention] : rules;
}

/** `in_proj_weight` [3·w, w] and `in_proj_bias` [3·w] → query, key and value, which are its thirds. */
function splitProjection(name: string, t: Constant): [string, Constant][] {
  const [, path = "", kind] = /^(.*\.)?in_proj_(weight|bias)$/.exec(name) ?? [];
  const [rows = 0, ...rest] = t.shape;
  if (kind === undefined || rows % 3) return [[name, t]];
  const size = t.data.length / 3;
  return ["query", "key", "value"].map((part, i) => [
    `${path}${part}.${kind}`,
    { dtype: t.dtype, shape: [rows / 3, ...rest], data: t.data.subarray(i * size, (i + 1) * size) },
  ]);
}
