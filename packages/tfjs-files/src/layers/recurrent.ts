/**
 * Recurrent layers: a scan over the axis of time. Gates lie side by side in the weights, LSTM's as
 * i, f, c, o and GRU's as z, r, h. Wrappers call the layer that they wrap.
 */

import type { Tensor } from "@kiln-ml/ir";
import * as ir from "@kiln-ml/ir";
import { range } from "../rows/operand.ts";
import { activationOf } from "./activation.ts";
import {
  type Build,
  flag,
  type Layer,
  type LayerRow,
  layerRow,
  maybeWeight,
  only,
  weight,
  word,
} from "./layer.ts";

interface Cell {
  readonly states: number;
  /** The state after a step, from what x gives to all gates, and the state before. */
  step(gates: Tensor, state: readonly Tensor[]): Tensor[];
}

/** The i-th of the gates, which lie side by side. */
const gate = (t: Tensor, i: number, units: number): Tensor =>
  ir.sliceAxis(t, -1, i * units, (i + 1) * units);

function simpleCell(layer: Layer): Cell {
  const u = weight(layer, "recurrent_kernel");
  const f = activationOf(layer, "activation", "tanh");
  return { states: 1, step: (x, [h]) => [f(ir.add(x, ir.matmul(h!, u)))] };
}

function lstmCell(layer: Layer, units: number): Cell {
  const u = weight(layer, "recurrent_kernel");
  const f = activationOf(layer, "activation", "tanh");
  const s = activationOf(layer, "recurrent_activation", "hard_sigmoid");
  return {
    states: 2,
    step(x, [h, c]) {
      const z = ir.add(x, ir.matmul(h!, u));
      const [i, forget, o] = [0, 1, 3].map((k) => s(gate(z, k, units)));
      const next = ir.add(ir.mul(forget!, c!), ir.mul(i!, f(gate(z, 2, units))));
      return [ir.mul(o!, f(next)), next];
    },
  };
}

/** Whether the reset is applied before or after the product with the recurrent weights. */
function gruCell(layer: Layer, units: number): Cell {
  const u = weight(layer, "recurrent_kernel");
  const f = activationOf(layer, "activation", "tanh");
  const s = activationOf(layer, "recurrent_activation", "hard_sigmoid");
  const bias = flag(layer, "use_bias", true) ? weight(layer, "bias") : undefined;
  const inner = bias?.rank === 2 ? ir.take(bias, 1, 0) : undefined;
  const after = flag(layer, "reset_after", false);
  return {
    states: 1,
    step(x, [h]) {
      const all = after ? ir.matmul(h!, u) : ir.matmul(h!, ir.sliceAxis(u, 1, 0, 2 * units));
      const r = inner ? ir.add(all, inner) : all;
      const [z, reset] = [0, 1].map((k) => s(ir.add(gate(x, k, units), gate(r, k, units))));
      const own = after
        ? ir.mul(reset!, gate(r, 2, units))
        : ir.matmul(ir.mul(reset!, h!), gate(u, 2, units));
      const next = f(ir.add(gate(x, 2, units), own));
      return [ir.add(ir.mul(z!, h!), ir.mul(ir.sub(1, z!), next))];
    },
  };
}

const cells: Readonly<Record<string, (layer: Layer, units: number) => Cell>> = {
  SimpleRNN: simpleCell,
  LSTM: lstmCell,
  GRU: gruCell,
};

/** The gates of x at all steps, [T, N, gates·units], and the cell. */
function prepared(layer: Layer, kind: string, x: Tensor) {
  const units = layer.config.get("units").count();
  const w = weight(layer, "kernel");
  const bias = flag(layer, "use_bias", true) ? maybeWeight(layer, "bias") : undefined;
  if (flag(layer, "use_bias", true) && !bias) layer.n.fail("has no weight bias");
  const outer = bias?.rank === 2 ? ir.take(bias, 0, 0) : bias;
  const gates = ir.matmul(ir.transpose(x, [1, 0, 2]), w);
  return { units, gates: outer ? ir.add(gates, outer) : gates, cell: cells[kind]!(layer, units) };
}

const recurrent =
  (kind: string) =>
  (layer: Layer): readonly Tensor[] => {
    only(layer, "stateful", false);
    const [x, ...initial] = layer.inputs;
    if (x?.rank !== 3) return layer.n.fail(`x is ${ir.printShape(x?.shape ?? [])}, not [N,T,F]`);
    const { units, gates, cell } = prepared(layer, kind, x);
    if (initial.length && initial.length !== cell.states)
      layer.n.fail(`is given ${initial.length} initial states, not ${cell.states}`);
    const none = () => ir.zeros([x.shape[0]!, units], "f32");
    const start = range(cell.states).map((i) => initial[i] ?? none());
    const backwards = flag(layer, "go_backwards", false);
    const xs = backwards ? ir.reverse(gates, 0) : gates;
    const { carry, ys } = ir.scan(start, [xs], (state, [at]) => {
      const next = cell.step(at!, state);
      return { carry: next, ys: [next[0]!] };
    });
    const all = ir.transpose(ys[0]!, [1, 0, 2]);
    const y = flag(layer, "return_sequences", false) ? all : carry[0]!;
    return flag(layer, "return_state", false) ? [y, ...carry] : [y];
  };

type Builds = ReadonlyMap<string, Build>;

/** The layer that a wrapper holds, under the name by which its weights are found. */
function innerOf(
  builds: Builds,
  layer: Layer,
  key: string,
  name: (own: string) => string,
): { build: Build; inner: Layer } {
  const field = layer.config.maybe(key) ?? layer.config.get("layer");
  const className = field.get("class_name").text();
  const config = field.get("config");
  const own = config.maybe("name")?.text() ?? className.toLowerCase();
  const build = builds.get(className);
  if (!build) return layer.n.fail(`wraps a layer ${className}, which is not supported`);
  const known = [name(own), own, layer.name].find((n) =>
    [...layer.weights.keys()].some((k) => k.startsWith(`${n}/`)),
  );
  return { build, inner: { ...layer, config, name: known ?? own } };
}

/** Once forwards and once backwards, with weights of their own. */
const bidirectional =
  (builds: Builds) =>
  (layer: Layer): Tensor | readonly Tensor[] => {
    const forward = innerOf(builds, layer, "layer", (own) => `forward_${own}`);
    const backward = innerOf(builds, layer, "backward_layer", (own) => `backward_${own}`);
    const sequences = flag(forward.inner, "return_sequences", false);
    if (flag(forward.inner, "return_state", false))
      layer.n.fail("return_state is true within Bidirectional");
    const [x] = layer.inputs;
    if (layer.inputs.length !== 1)
      layer.n.fail("initial states of Bidirectional are not supported");
    const run = ({ build, inner }: typeof forward, t: Tensor) => {
      const y = build({ ...inner, inputs: [t] });
      return (Array.isArray(y) ? y[0] : y) as Tensor;
    };
    const a = run(forward, x!);
    // A layer that is given for it is one that goes backwards by itself.
    const own = layer.config.maybe("backward_layer") !== undefined;
    const turned = run(backward, own ? x! : ir.reverse(x!, 1));
    const b = sequences ? ir.reverse(turned, 1) : turned;
    if (layer.config.isNull("merge_mode")) return [a, b];
    const mode = word(layer, "merge_mode", "concat");
    if (mode === "concat") return ir.concat([a, b], a.rank - 1);
    if (mode === "sum") return ir.add(a, b);
    if (mode === "mul") return ir.mul(a, b);
    if (mode === "ave") return ir.div(ir.add(a, b), 2);
    return layer.n.fail(`merge_mode is ${mode}`);
  };

/** The same layer at each step: time goes into the batch meanwhile. */
const distributed =
  (builds: Builds) =>
  (layer: Layer): Tensor => {
    const { build, inner } = innerOf(builds, layer, "layer", (own) => own);
    const [x] = layer.inputs;
    const [batch, steps, ...rest] = x!.shape;
    const all = ir.reshape(x!, [ir.mulDim(batch!, steps!), ...rest]);
    const y = build({ ...inner, inputs: [all] });
    const t = (Array.isArray(y) ? y[0] : y) as Tensor;
    return ir.reshape(t, [batch!, steps!, ...t.shape.slice(1)]);
  };

/** With the rows of the other families, whose layers wrappers may hold. */
export function recurrentLayers(others: readonly LayerRow[]): LayerRow[] {
  const own = Object.keys(cells).map((kind) => layerRow(kind, recurrent(kind)));
  const builds: Builds = new Map([...others, ...own].map((row) => [row.op, row.layer]));
  return [
    ...own,
    layerRow("Bidirectional", bidirectional(builds)),
    layerRow("TimeDistributed", distributed(builds)),
  ];
}
