/**
 * The topology of a layers model as a model that the importer walks: a call of a layer is a node,
 * with the layer's configuration and the names of its weights as attributes. Models within models
 * are written out.
 */
import type { AttributeDef, Model, NodeDef, TensorDef, ValueDef } from "@kiln-ml/onnx";
import type { Field } from "../file/field.ts";
import { layerDomain } from "./layer.ts";
import { WeightNames } from "./weight-names.ts";

/** Models within models that are no longer a program. */
const mostDepth = 16;
const mostNodes = 1 << 16;

const modelClasses: ReadonlySet<string> = new Set(["Sequential", "Model", "Functional"]);

interface LayerConfig {
  readonly className: string;
  readonly name: string;
  readonly config: Field;
  readonly field: Field;
}

/** Throws ArtifactError for a topology that does not hang together. */
export function readLayers(topology: Field, weights: ReadonlyMap<string, TensorDef>): Model {
  const root = topology.maybe("model_config") ?? topology;
  return new Reader(weights).model(root);
}

function layerConfig(field: Field): LayerConfig {
  const config = field.get("config");
  const className = field.get("class_name").text();
  // A sequential model may be nothing but the list of its layers.
  const own = config.isRecord ? config.maybe("name") : undefined;
  const name = (field.maybe("name") ?? own)?.text() ?? className.toLowerCase();
  return { className, name, config, field };
}

class Reader {
  readonly #names: WeightNames;
  readonly #weights: ReadonlyMap<string, TensorDef>;
  readonly #nodes: NodeDef[] = [];
  readonly #inputs: ValueDef[] = [];
  readonly #used = new Set<string>();

  constructor(weights: ReadonlyMap<string, TensorDef>) {
    this.#weights = weights;
    this.#names = new WeightNames([...weights.keys()]);
  }

  model(root: Field): Model {
    const top = layerConfig(root);
    if (!modelClasses.has(top.className))
      root.fail(`is a ${top.className}, not a Sequential or a Functional model`);
    const outputs = this.#instantiate(top, undefined, "", 0);
    return {
      irVersion: 0,
      producer: "keras",
      opsets: new Map([
        ["", 21],
        [layerDomain, 1],
      ]),
      graph: {
        name: top.name,
        nodes: this.#nodes,
        initializers: [...this.#used].map((name) => this.#weights.get(name)!),
        inputs: this.#inputs,
        outputs: [...new Set(outputs)].map((name) => ({ name, type: undefined })),
        values: [],
      },
      functions: [],
      metadata: new Map(),
    };
  }

  /** The outputs of a model for these values; of the outermost, its input layers declare inputs. */
  #instantiate(
    model: LayerConfig,
    given: readonly string[] | undefined,
    prefix: string,
    depth: number,
  ): readonly string[] {
    if (depth > mostDepth) model.field.fail(`lies ${mostDepth} models deep`);
    const layers = layersOf(model).map(layerConfig);
    return model.className === "Sequential"
      ? this.#sequence(model, layers, given, prefix, depth)
      : this.#functional(model, layers, given, prefix, depth);
  }

  #sequence(
    model: LayerConfig,
    layers: readonly LayerConfig[],
    given: readonly string[] | undefined,
    prefix: string,
    depth: number,
  ): readonly string[] {
    let values = given;
    for (const [i, layer] of layers.entries()) {
      if (layer.className === "InputLayer") {
        values ??= [this.#input(layer, layer.name)];
        continue;
      }
      values ??= [this.#input(firstOf(layer), `${layer.name}_input`)];
      values = this.#call(layer, values, prefix, i, depth);
    }
    return values ?? model.field.fail("has no layers");
  }

  #functional(
    model: LayerConfig,
    layers: readonly LayerConfig[],
    given: readonly string[] | undefined,
    prefix: string,
    depth: number,
  ): readonly string[] {
    const ends = (key: string) => endpoints(model.config.get(key));
    const calls = new Calls(layers, ends("output_layers"));
    for (const [i, [name]] of ends("input_layers").entries()) {
      const layer = calls.layer(name, model.field);
      const value = given ? given[i] : this.#input(layer, layer.name);
      if (value === undefined) model.field.fail(`is called with ${given!.length} tensors only`);
      calls.set(name, 0, [value!]);
    }
    calls.inOrder(model.field, (layer, at, inputs) => this.#call(layer, inputs, prefix, at, depth));
    return ends("output_layers").map((end) => calls.value(end, model.field));
  }

  /** The values of one call of a layer. */
  #call(
    layer: LayerConfig,
    inputs: readonly string[],
    prefix: string,
    at: number,
    depth: number,
  ): readonly string[] {
    const { className, name, config, field } = layer;
    const own = `${prefix}${name}`;
    if (modelClasses.has(className)) {
      const within = at === 0 ? `${own}/` : `${own}/${at}/`;
      return this.#instantiate(layer, inputs, within, depth + 1);
    }
    if (this.#nodes.length >= mostNodes) field.fail(`is the ${mostNodes}th call of a layer`);
    const weights = this.#names.of(layer.name, config, prefix, field);
    for (const [, full] of weights) this.#used.add(full);
    const label = this.#nodes.some((n) => n.name === own) ? `${own}:${at}` : own;
    const outputs = Array.from({ length: outputsOf(className, config) }, (_, i) =>
      i ? `${label}:out${i}` : label,
    );
    this.#nodes.push({
      op: className,
      domain: layerDomain,
      overload: "",
      name: label,
      inputs: [...inputs, ...weights.map(([, full]) => full)],
      outputs,
      attributes: new Map<string, AttributeDef>([
        ["config", { kind: "string", value: JSON.stringify(config.value) }],
        ["layer", { kind: "string", value: name }],
        ["weights", { kind: "strings", value: weights.map(([key]) => key) }],
      ]),
    });
    return outputs;
  }

  #input({ config, field }: LayerConfig, name: string): string {
    const shape = config.maybe("batch_input_shape") ?? config.maybe("batch_shape");
    if (!shape)
      return field.fail(
        `declares no batch_input_shape, so the input has no rank\n  build the model before it is saved`,
      );
    const dims = shape.list().map((d) => (d.value === null ? undefined : d.count()));
    const dtype = config.maybe("dtype");
    const type =
      dtype?.isText && dtype.text() === "int32"
        ? "int32"
        : dtype?.isText && dtype.text() === "bool"
          ? "bool"
          : "float32";
    this.#inputs.push({ name, type: { kind: "tensor", type, shape: dims } });
    return name;
  }
}

const layersOf = ({ config }: LayerConfig): readonly Field[] =>
  config.isList ? config.list() : config.get("layers").list();

/** Where the input of a model is declared, if its first layer is a model. */
function firstOf(layer: LayerConfig): LayerConfig {
  let at = layer;
  for (let depth = 0; modelClasses.has(at.className) && depth < mostDepth; depth++) {
    const [first] = layersOf(at);
    if (!first) break;
    at = layerConfig(first);
  }
  return at;
}

/** RNN layers that are asked for their state give it behind their result. */
function outputsOf(className: string, config: Field): number {
  if (!config.isRecord) return 1;
  if (className === "Bidirectional" && config.isNull("merge_mode")) return 2;
  if (config.maybe("return_state")?.value !== true) return 1;
  return className === "LSTM" ? 3 : 2;
}

type End = readonly [layer: string, call: number, tensor: number];

const endOf = (field: Field): End => {
  const [layer, call, tensor] = field.list();
  return [layer?.text() ?? field.fail("is empty"), call?.count() ?? 0, tensor?.count() ?? 0];
};

/** A list of ends, or one end alone. */
const endpoints = (field: Field): readonly End[] => {
  const list = field.list();
  return list[0]?.isText ? [endOf(field)] : list.map(endOf);
};

/** The calls of a layer, as far as it is part of a functional model. */
const callsOf = ({ field }: LayerConfig): readonly Field[] =>
  field.maybe("inbound_nodes")?.list() ?? [];

/** The tensors that a call reads, in either of the two forms that files have. */
function readsOf(call: Field): readonly End[] {
  if (call.isRecord) {
    checkArguments(call.maybe("kwargs"));
    return tensorsIn(call.get("args"), 0);
  }
  return call.list().map((one) => {
    checkArguments(one.list()[3]);
    return endOf(one);
  });
}

/** Those of a call beside its tensors: all of them off. */
function checkArguments(named: Field | undefined): void {
  for (const [, field] of named?.entries() ?? [])
    if (field.value !== null && field.value !== false) notSupported(field);
}

const notSupported = (field: Field): never =>
  field.fail("is an argument of a call, which is not supported");

/** In the newer form, wherever they stand among the arguments. */
function tensorsIn(field: Field, depth: number): readonly End[] {
  if (depth > 4) return field.fail("is nested too deeply");
  if (field.isList) return field.list().flatMap((f) => tensorsIn(f, depth + 1));
  if (!field.isRecord) return field.value === null ? [] : notSupported(field);
  const history = field.maybe("config")?.maybe("keras_history");
  return history ? [endOf(history)] : notSupported(field);
}

/** The calls of a functional model's layers, as far as they are made. */
class Calls {
  readonly #layers: ReadonlyMap<string, LayerConfig>;
  readonly #values = new Map<string, readonly string[]>();
  /** Models whose calls are counted from 1, as writers do where a model has inputs of its own. */
  readonly #fromOne = new Set<string>();

  constructor(layers: readonly LayerConfig[], ends: readonly End[]) {
    const byName = new Map<string, LayerConfig>();
    for (const layer of layers) {
      if (byName.has(layer.name))
        layer.field.fail(`is a second layer named ${JSON.stringify(layer.name)}`);
      byName.set(layer.name, layer);
    }
    this.#layers = byName;
    const reads = layers.flatMap((l) => callsOf(l).flatMap(readsOf));
    for (const [name, call] of [...reads, ...ends]) {
      const layer = byName.get(name);
      if (layer && modelClasses.has(layer.className) && call === callsOf(layer).length)
        this.#fromOne.add(name);
    }
  }

  /** Where the values of a call are kept that a file counts so. */
  #key([name, call]: End): string {
    return `${this.#fromOne.has(name) ? call - 1 : call}/${name}`;
  }

  layer(name: string, by: Field): LayerConfig {
    return (
      this.#layers.get(name) ??
      by.fail(`names the layer ${JSON.stringify(name)}, which it does not have`)
    );
  }

  set(name: string, call: number, values: readonly string[]): void {
    this.#values.set(`${call}/${name}`, values);
  }

  value(end: End, by: Field): string {
    const [name, call, tensor] = end;
    this.layer(name, by);
    return (
      this.#values.get(this.#key(end))?.[tensor] ??
      by.fail(
        `reads tensor ${tensor} of call ${call} of ${JSON.stringify(name)}, which there is not`,
      )
    );
  }

  /**
   * Makes every call after those that it reads. Throws ArtifactError where calls wait for each
   * other.
   */
  inOrder(
    model: Field,
    make: (layer: LayerConfig, at: number, inputs: readonly string[]) => readonly string[],
  ): void {
    const calls = [...this.#layers.values()].flatMap((layer) =>
      callsOf(layer).map((call, at) => ({
        layer,
        at,
        reads: readsOf(call),
      })),
    );
    const key = (name: string, call: number) => `${call}/${name}`;
    const users = new Map<string, typeof calls>();
    const left = new Map<(typeof calls)[number], number>();
    const ready: typeof calls = [];
    for (const call of calls) {
      if (this.#values.has(key(call.layer.name, call.at))) continue;
      const needs = new Set(
        call.reads.map((end) => this.#key(end)).filter((k) => !this.#values.has(k)),
      );
      left.set(call, needs.size);
      for (const k of needs) users.set(k, [...(users.get(k) ?? []), call]);
      if (!needs.size) ready.push(call);
    }
    let made = 0;
    for (let i = 0; i < ready.length; i++) {
      const { layer, at, reads } = ready[i]!;
      this.set(
        layer.name,
        at,
        make(
          layer,
          at,
          reads.map((end) => this.value(end, layer.field)),
        ),
      );
      made++;
      for (const user of users.get(key(layer.name, at)) ?? []) {
        const count = left.get(user)! - 1;
        left.set(user, count);
        if (count === 0) ready.push(user);
      }
    }
    if (made === left.size) return;
    const [stuck] = [...left].filter(([, count]) => count > 0).map(([call]) => call.layer);
    model.fail(
      `has calls that wait for each other, or for a layer that is not called: ${JSON.stringify(stuck!.name)} among them`,
    );
  }
}
