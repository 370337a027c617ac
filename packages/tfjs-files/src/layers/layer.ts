/**
 * What the row of a layer sees: its configuration, the tensors it is called with, its weights by
 * name. A field of the configuration that a row has not read is refused where it could matter.
 */
import type { Tensor } from "@kiln-ml/ir";
import { type NodeContext, type Row, row } from "@kiln-ml/onnx";
import { Field } from "../file/field.ts";
import { asValue } from "../rows/row.ts";

/** The domain of layers among those of the importer. */
export const layerDomain = "keras";

export interface Layer {
  readonly n: NodeContext;
  readonly config: Field;
  readonly inputs: readonly Tensor[];
  /** The name of the layer, by which its weights are found. */
  readonly name: string;
  readonly weights: ReadonlyMap<string, Tensor>;
}

export type Build = (layer: Layer) => Tensor | readonly Tensor[];

/** The one tensor that most layers are called with. */
export const x = ({ n, inputs }: Layer): Tensor =>
  inputs.length === 1 ? inputs[0]! : n.fail(`is called with ${inputs.length} tensors, not one`);

/** The weight of that name; between it and the layer's name may stand that of a cell. */
export function maybeWeight({ n, name, weights }: Layer, weight: string): Tensor | undefined {
  const own = weights.get(`${name}/${weight}`);
  if (own) return own;
  const inner = [...weights].filter(
    ([key]) => key.startsWith(`${name}/`) && key.endsWith(`/${weight}`),
  );
  if (inner.length > 1) n.fail(`has ${inner.length} weights named ${weight}`);
  return inner[0]?.[1];
}

export const weight = (layer: Layer, name: string): Tensor =>
  maybeWeight(layer, name) ??
  layer.n.fail(`has no weight ${name}\n  the manifest must have ${layer.name}/${name}`);

export const flag = ({ config }: Layer, name: string, fallback: boolean): boolean =>
  config.maybe(name)?.flag() ?? fallback;

export const number = ({ config }: Layer, name: string, fallback: number): number =>
  config.maybe(name)?.number() ?? fallback;

export const word = ({ config }: Layer, name: string, fallback: string): string =>
  config.maybe(name)?.text() ?? fallback;

/** One number for each of `count` axes; a number alone is for all. */
export function perAxis(
  { config, n }: Layer,
  name: string,
  count: number,
  fallback: number,
): number[] {
  const field = config.maybe(name);
  const list =
    field === undefined
      ? [fallback]
      : field.isList
        ? field.list().map((f) => f.whole())
        : [field.whole()];
  if (list.length !== 1 && list.length !== count)
    n.fail(`${name} has ${list.length} entries, not ${count}`);
  return Array.from({ length: count }, (_, i) => list[list.length === 1 ? 0 : i]!);
}

export const channelsFirst = (layer: Layer): boolean =>
  word(layer, "data_format", "channels_last") === "channels_first";

/** Fails where a field has another value than the one that is supported. */
export function only(layer: Layer, name: string, value: unknown): void {
  const found = layer.config.maybe(name)?.value;
  if (found !== undefined && found !== value)
    layer.n.fail(
      `${name} is ${JSON.stringify(found)}, and only ${JSON.stringify(value)} is supported`,
    );
}

/** Reads what `readLayers` has put into the node of a call. */
export function layerOf(n: NodeContext): Layer {
  const names = n.strings("weights", []);
  const data = n.count - names.length;
  const config = Field.parse(n.string("config"), n.where);
  const weights = new Map(names.map((key, i) => [key, n.tensor(data + i)] as const));
  const inputs = Array.from({ length: data }, (_, i) => n.tensor(i));
  return { n, config, inputs, name: n.string("layer"), weights };
}

/** A row of the table of layers; wrappers call `build` on the layer that they hold. */
export interface LayerRow extends Row {
  readonly layer: Build;
}

export function layerRow(className: string, build: Build, note?: string): LayerRow {
  const layer: Build = (given) => {
    const y = build(given);
    checkRead(given);
    return y;
  };
  return {
    ...row(
      className,
      (n) => {
        const y = layer(layerOf(n));
        return Array.isArray(y) ? y.map(asValue) : asValue(y as Tensor);
      },
      { domain: layerDomain, ...(note === undefined ? {} : { note }) },
    ),
    layer,
  };
}

/** What the weights tell as well, what is of training, and how a result is come to, not which. */
const idle: ReadonlySet<string> = new Set(
  [
    "name trainable dtype dtype_policy input_dtype autocast supports_masking",
    "batch_input_shape batch_shape batch_size input_shape input_dim input_length",
    "units filters kernel_size rank depth_multiplier groups output_dim shared_axes",
    "rate stddev seed noise_shape dropout recurrent_dropout l1 l2 unit_forget_bias",
    "momentum fused renorm renorm_clipping renorm_momentum virtual_batch_size synchronized",
    "unroll implementation zero_output_for_mask use_cudnn_on_gpu",
  ].flatMap((line) => line.split(" ")),
);

export const isIdle = (name: string): boolean =>
  idle.has(name) || /_(initializer|regularizer|constraint)$/.test(name);

/** Fails for a field that the row has not read, unless it is off or tells nothing. */
function checkRead({ n, config }: Layer): void {
  for (const [name, { value }] of config.unread()) {
    if (value === null || value === false || isIdle(name)) continue;
    n.fail(`${name} is ${JSON.stringify(value)}, and only false is supported`);
  }
}
