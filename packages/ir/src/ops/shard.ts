/**
 * `shard`: how a value lies on a mesh of devices. It computes nothing: a call of the identity,
 * which every target inlines, and which an exporter for several devices reads off. Its cotangent
 * lies as it does, since its gradient has a closed form: itself.
 */
import { GraphError, ShapeError } from "../errors.ts";
import { kindOf } from "../kind.ts";
import type { Tensor } from "../node.ts";
import { printShape } from "../shape.ts";
import { inClosedForm } from "../transforms/custom-vjp.ts";
import { checkTensor } from "./apply.ts";
import type { ClosedForm } from "./call-gradient.ts";

/**
 * For each axis of a tensor the axis of the mesh over which it is cut, several, or null for none.
 */
export type ShardSpec = readonly (string | readonly string[] | null)[];

const prefix = "shard ";
const axisName = /^[A-Za-z_]\w*$/;

/** `data,null,a+b`: a spec as the name of a call has it. */
export const specText = (spec: ShardSpec): string =>
  spec.map((a) => (a === null ? "null" : typeof a === "string" ? a : a.join("+"))).join(",");

function parseSpec(text: string): ShardSpec {
  if (text === "") return [];
  return text.split(",").map((a) => (a === "null" ? null : a.includes("+") ? a.split("+") : a));
}

const forms = new Map<string, ClosedForm>();

function formOf(spec: ShardSpec): ClosedForm {
  const text = specText(spec);
  const known = forms.get(text);
  if (known) return known;
  const form: ClosedForm = {
    name: `${prefix}${text}`,
    body: (x) => [x!],
    gradient: ([g]) => [inClosedForm(form, [g!])[0]!],
  };
  forms.set(text, form);
  return form;
}

function checkNames(spec: ShardSpec): void {
  const names = spec.flatMap((a) => a ?? []);
  for (const name of names)
    if (typeof name !== "string" || !axisName.test(name) || name === "null")
      throw new GraphError(
        `shard: an axis of the mesh is ${kindOf(name)}, not a name\n  give letters and digits, or null for an axis that stays whole: ["data", null]`,
      );
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new GraphError(
      `shard: ${twice} cuts two axes of one tensor\n  an axis of the mesh cuts one axis at most`,
    );
}

/**
 * x, cut over the axes of a mesh: axis i of x over the axis `spec[i]`, or over none. y = x; its
 * cotangent is cut in the same way. Where a program runs on one device, it is x.
 *
 * x: any shape and dtype; spec: an entry for each axis. Throws ShapeError if their numbers differ,
 * GraphError for what is no name of an axis, or one that is there twice. Shardy's
 * `sharding_constraint`; Xu et al. 2021, GSPMD. `jax.lax.with_sharding_constraint`.
 *
 * @example
 *   const x = tensor([[1, 2], [3, 4]]);
 *   shard(x, ["data", null]) // [[1, 2], [3, 4]]; rows over the devices of axis "data"
 */
export function shard(x: Tensor, spec: ShardSpec): Tensor {
  checkTensor("shard", x);
  if (!Array.isArray(spec))
    throw new GraphError(
      `shard: the spec is ${kindOf(spec)}, not a list\n  give an entry for each axis: ["data", null]`,
    );
  if (spec.length !== x.rank)
    throw new ShapeError(
      `shard: the spec has ${spec.length} entries, x is ${printShape(x.shape)}\n  give an axis of the mesh or null for each of its ${x.rank} axes`,
    );
  checkNames(spec);
  return inClosedForm(formOf(spec), [x])[0]!;
}

/** Whether a call is one of `shard`. */
export const isShard = (t: Tensor): boolean =>
  t.op === "call" && String(t.attrs.name ?? "").startsWith(prefix);

/** The spec of a call of `shard`. */
export const shardSpecOf = (t: Tensor): ShardSpec =>
  parseSpec(String(t.attrs.name).slice(prefix.length));
