/**
 * Reparameterisations of a layer's weight: weight normalisation and spectral normalisation. The
 * weight becomes a computed value that the layer's own forward reads; what is trained lies beside
 * it.
 */
import {
  assign,
  checkOptions,
  GraphError,
  isFrozen,
  type OptionNames,
  param,
  printShape,
  ShapeError,
  setFrozen,
  Tensor,
} from "@kiln-ml/ir";
import { recordChange, undoChanges } from "./changes.ts";
import { wrapForward } from "./forwards.ts";
import { normal } from "./init.ts";
import { checkModule, type Module } from "./module.ts";
import { buffer, checkCount } from "./parameter.ts";

export interface WeightNormOptions {
  /** Which parameter, by the name of its field; "weight" by default. */
  readonly name?: string;
  /**
   * The axis along which each place has a length of its own; 0 by default, null for one length of
   * all.
   */
  readonly axis?: number | null;
}

export interface SpectralNormOptions {
  /** Which parameter, by the name of its field; "weight" by default. */
  readonly name?: string;
  /** The axis that counts outputs; 0 by default, 1 for transposed convolutions. */
  readonly axis?: number;
  /** Steps of power iteration at each forward in training; default 1. */
  readonly iterations?: number;
  /** The least length that is divided by; default 1e-12. */
  readonly eps?: number;
}

const weightNormOptions: OptionNames<WeightNormOptions> = { name: 1, axis: 1 };
const spectralNormOptions: OptionNames<SpectralNormOptions> = {
  name: 1,
  axis: 1,
  iterations: 1,
  eps: 1,
};

type Fields = Module & Record<string, unknown>;

/** The parameter of a layer that is to become a computed one. */
function weightOf(op: string, layer: Module, name: string): Tensor {
  checkModule(op, layer);
  const own = Object.getOwnPropertyDescriptor(layer, name)?.value;
  if (!(own instanceof Tensor) || own.op !== "param")
    throw new GraphError(
      `${op}: ${layer.constructor.name} has no parameter ${name} of its own\n  give it a layer, not the network around it, and the name of a field`,
    );
  return own;
}

/**
 * Lets `forward` read what `compute` gives in the place of a parameter. It is called once a
 * forward, with whether that trains; a read from outside computes without training. What it
 * returns gives the layer its forward back.
 */
function replaceWeight(
  layer: Module,
  name: string,
  compute: (train: boolean) => Tensor,
): () => void {
  let current: Tensor | undefined;
  const get = (): Tensor => current ?? compute(false);
  Object.defineProperty(layer, name, { get, enumerable: false, configurable: true });
  return wrapForward(layer, (plain, inputs) => {
    const before = current;
    current = compute(layer.training);
    try {
      return plain(...inputs);
    } finally {
      current = before;
    }
  });
}

/** √Σ over all axes but one, kept. */
function lengths(v: Tensor, axis: number | null): Tensor {
  const axes = v.shape.map((_, i) => i).filter((i) => i !== axis);
  return v.square().sum(axes, { keepDims: true }).sqrt();
}

/**
 * W = g·v/‖v‖: direction and length of a weight are trained apart. The field becomes a computed
 * one; `weightG` and `weightV` stand beside it, which give the same W at first and are frozen if W
 * was. The layer is changed, and returned; make the optimizer afterwards.
 *
 * v: the shape of W; g: 1 on every axis but `axis`. `torch.nn.utils.weight_norm`. Salimans & Kingma
 * 2016.
 *
 * Throws GraphError where the layer has no such parameter, ShapeError where it has no such axis.
 *
 * @param layer A layer with the parameter.
 * @example
 *   const layer = nn.weightNorm(new nn.Linear(4, 3));
 *   layer.forward(ones([1, 4])).shape // [1, 3]
 */
export function weightNorm<M extends Module>(layer: M, options: WeightNormOptions = {}): M {
  const { name = "weight", axis = 0 } = checkOptions("weightNorm", options, weightNormOptions);
  const w = weightOf("weightNorm", layer, name);
  if (axis !== null) checkAxis("weightNorm", w, axis);
  const fields = layer as Fields;
  const v = param(w, { name: `${name}V` });
  const g = param(lengths(w, axis), { name: `${name}G` });
  for (const t of [v, g]) setFrozen(t, isFrozen(w));
  fields[`${name}G`] = g;
  fields[`${name}V`] = v;
  const takeOff = replaceWeight(layer, name, () => v.mul(g.div(lengths(v, axis))));
  recordChange(layer, "weightNorm", { name, axis }, takeOff);
  return layer;
}

/**
 * W/σ(W), σ the largest singular value, so that the layer stretches nothing: by power iteration on
 * two vectors that are kept, one step a forward in training, none in evaluation. `weightOriginal`
 * is trained unless W was frozen; `weightU` and `weightV` are buffers. The layer is changed, and
 * returned.
 *
 * W is taken as a matrix [n of `axis`, all else]. `torch.nn.utils.parametrizations.spectral_norm`.
 * Miyato et al. 2018.
 *
 * Throws as `weightNorm`, and ShapeError for `iterations` below 1.
 *
 * @param layer A layer with the parameter.
 * @example
 *   const layer = nn.spectralNorm(new nn.Linear(4, 3));
 *   layer.forward(ones([1, 4])).shape // [1, 3]
 */
export function spectralNorm<M extends Module>(layer: M, options: SpectralNormOptions = {}): M {
  const { name = "weight", axis = 0, iterations = 1, eps = 1e-12 } = checkOptions("spectralNorm", options, spectralNormOptions); // biome-ignore format: one line
  const w = weightOf("spectralNorm", layer, name);
  checkAxis("spectralNorm", w, axis);
  checkCount("spectralNorm", "iterations", iterations);
  const rows = w.shape[axis] as number;
  const columns = (w.shape as number[]).reduce((a, b) => a * b, 1) / rows;
  const matrix = (t: Tensor): Tensor =>
    t
      .transpose([axis, ...t.shape.map((_, i) => i).filter((i) => i !== axis)])
      .reshape([rows, columns]);
  const unit = (t: Tensor): Tensor => t.div(t.square().sum().sqrt().maximum(eps));
  const own = param(w, { name: `${name}Original` });
  setFrozen(own, isFrozen(w));
  const [u, v] = [
    ["U", rows],
    ["V", columns],
  ].map(([end, size]) => buffer(`${name}${end}`, [size as number], normal())) as [Tensor, Tensor];
  const fields = layer as Fields;
  fields[`${name}Original`] = own;
  fields[`${name}U`] = u;
  fields[`${name}V`] = v;
  /** Both vectors after some steps; they are constants of the gradient. */
  const iterated = (from: Tensor, count: number): [Tensor, Tensor] => {
    const m = matrix(own).stopGradient();
    let [left, right] = [u as Tensor, from];
    for (let i = 0; i < count; i++) {
      right = unit(left.matmul(m));
      left = unit(m.matmul(right));
    }
    return [left, right];
  };
  const move = (count: number): void => {
    const [left, right] = iterated(v, count);
    assign(u, left);
    assign(v, right);
  };
  assign(u, unit(u));
  move(15);
  const takeOff = replaceWeight(layer, name, (train) => {
    if (train) move(iterations);
    return own.div(u.stopGradient().matmul(matrix(own)).dot(v.stopGradient()));
  });
  recordChange(layer, "spectralNorm", { name, axis, iterations, eps }, takeOff);
  return layer;
}

function checkAxis(op: string, w: Tensor, axis: number): void {
  if (!Number.isInteger(axis) || axis < 0 || axis >= w.rank)
    throw new ShapeError(
      `${op}: the weight ${printShape(w.shape)} has no axis ${axis}\n  count axes from 0`,
    );
}

/**
 * Makes a weight that `weightNorm` or `spectralNorm` computed a parameter again, which holds what
 * it was, frozen if what was trained was. Other reparameterisations and hooks of the layer stay.
 * The layer is returned. Throws GraphError where there is none.
 * `torch.nn.utils.remove_weight_norm`.
 *
 * @param layer A layer with the parameter.
 * @param name The parameter.
 * @example
 *   const layer = nn.weightNorm(new nn.Linear(2, 2));
 *   nn.removeWeightNorm(layer);
 *   [...layer.namedParameters()].map(([name]) => name).sort() // ["bias", "weight"]
 */
export function removeWeightNorm<M extends Module>(layer: M, name = "weight"): M {
  checkModule("removeWeightNorm", layer);
  const fields = layer as Fields;
  const value = fields[name];
  const computed = Object.getOwnPropertyDescriptor(layer, name)?.get !== undefined;
  if (!computed || !(value instanceof Tensor))
    throw new GraphError(
      `removeWeightNorm: ${name} of ${layer.constructor.name} is not computed\n  call nn.weightNorm or nn.spectralNorm first`,
    );
  const trained = (fields[`${name}Original`] ?? fields[`${name}V`]) as Tensor;
  for (const end of ["G", "V", "U", "Original"]) delete fields[`${name}${end}`];
  undoChanges(layer, ({ options }) => (options as { name?: string }).name === name);
  const own = param(value, { name });
  setFrozen(own, isFrozen(trained));
  Object.defineProperty(layer, name, {
    value: own,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  return layer;
}
