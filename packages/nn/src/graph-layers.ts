/**
 * Layers over graphs: nodes are rows of x, edges two rows of node numbers, source and target.
 * Several graphs are packed as one whose nodes are counted on, so that a batch of graphs costs what
 * one does. A layer is a product and one scatter over the edges.
 */
import {
  checkOptions,
  checkTensor,
  concat,
  type Dim,
  GraphError,
  iota,
  isInteger,
  kindOf,
  leakyRelu,
  type OptionNames,
  ones,
  param,
  printShape,
  ShapeError,
  scatter,
  segmentMax,
  segmentMean,
  segmentSoftmax,
  segmentSum,
  Tensor,
  take,
} from "@kiln-ml/ir";
import { constant, xavierUniform } from "./init.ts";
import { Linear } from "./linear.ts";
import { type Layer, Module } from "./module.ts";
import { checkCount, checkExtent, weight } from "./parameter.ts";

/** The sources and the targets of edges i32[2, E]. */
function endsOf(op: string, edges: Tensor): [Tensor, Tensor] {
  checkTensor(op, edges);
  if (edges.rank !== 2 || edges.shape[0] !== 2 || !isInteger(edges.dtype))
    throw new ShapeError(
      `${op}: edges are ${edges.dtype}${printShape(edges.shape)}, not i32[2,E]\n  the first row has the sources, the second the targets`,
    );
  return [edges.get(0), edges.get(1)];
}

export type Aggregation = "sum" | "mean" | "max";

const aggregations = { sum: segmentSum, mean: segmentMean, max: segmentMax };

/**
 * For each node the sum, mean or maximum of the messages that its edges bring: a message is made of
 * the rows of x at both ends.
 *
 * x: f32[N, ...], edges: i32[2, E], message(source, target): f32[E, ...] → f32[N, ...]; a node
 * without edges gets 0, for "max" the least number. Throws ShapeError unless edges are i32[2, E].
 * Gilmer et al. 2017. `torch_geometric.nn.MessagePassing`.
 *
 * @param message What an edge carries, of features of both ends [E, …].
 * @param aggregation "sum", "mean" or "max".
 * @example
 *   const edges = tensor([[0, 1, 2], [1, 2, 0]], { dtype: "i32" }); // a ring
 *   const x = tensor([[1], [2], [4]]);
 *   nn.messagePassing(x, edges) // [[4], [1], [2]]; what comes in over 0 → 1 → 2 → 0
 *   nn.messagePassing(x, edges, (from, to) => from.sub(to).abs(), "max") // [[3], [1], [2]]
 */
export function messagePassing(
  x: Tensor,
  edges: Tensor,
  message: (source: Tensor, target: Tensor) => Tensor = (source) => source,
  aggregation: Aggregation = "sum",
): Tensor {
  checkTensor("messagePassing", x);
  const [source, target] = endsOf("messagePassing", edges);
  const reduce = aggregations[aggregation];
  if (!reduce)
    throw new GraphError(
      `messagePassing: there is no aggregation ${String(aggregation)}\n  take "sum", "mean" or "max"`,
    );
  return reduce(message(take(x, source), take(x, target)), target, x.shape[0] as Dim);
}

export interface GraphLayerOptions {
  /** Adds a bias; true by default. */
  readonly bias?: boolean;
}

const graphOptions: OptionNames<GraphLayerOptions> = { bias: 1 };

/**
 * y = D^(−½)·(A + I)·D^(−½)·x·Wᵀ + b, where D counts the edges into each node, and one of its own.
 *
 * x: f32[N, in], edges: i32[2, E] → f32[N, out]; `weights` f32[E] counts an edge by another number
 * than 1. Throws ShapeError where they do not fit. Kipf & Welling 2017, eq. 2;
 * `torch_geometric.nn.GCNConv`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param outputs Features of the result.
 * @example
 *   const edges = tensor([[0, 1, 2], [1, 2, 0]], { dtype: "i32" }); // a ring
 *   new nn.GCNConv(16, 32).forward(ones([3, 16]), edges).shape // [3, 32]
 */
export class GCNConv extends Module {
  readonly weight: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs: number;
  readonly outputs: number;

  constructor(inputs: number, outputs: number, options: GraphLayerOptions = {}) {
    super([inputs, outputs, options]);
    const { bias = true } = checkOptions("gcnConv", options, graphOptions);
    checkCount("gcnConv", "inputs", inputs);
    checkCount("gcnConv", "outputs", outputs);
    this.inputs = inputs;
    this.outputs = outputs;
    this.weight = weight("weight", [outputs, inputs], xavierUniform());
    if (bias) this.bias = weight("bias", [outputs], constant(0));
  }

  override forward(x: Tensor, edges: Tensor, weights?: Tensor): Tensor {
    checkExtent("gcnConv", x, -1, this.inputs, "inputs");
    const [source, target] = endsOf("gcnConv", edges);
    const own = weights ?? ones(target.shape, x.dtype);
    const degree = scatter(ones([x.shape[0]!], x.dtype), own, [target], [0]);
    const scale = degree.rsqrt();
    const m = x.matmul(this.weight.transpose([1, 0]));
    const self = m.mul(scale.square().expandDims(-1));
    const start = this.bias ? self.add(this.bias) : self;
    const along = take(scale, source).mul(take(scale, target)).mul(own);
    return scatter(start, take(m, source).mul(along.expandDims(-1)), [target], [0]);
  }

  override describe(): string {
    return `${this.inputs} → ${this.outputs}`;
  }
}

export interface GatOptions extends GraphLayerOptions {
  /** How many attend side by side; their results stand side by side. Default 1. */
  readonly heads?: number;
  /** The slope of the leaky unit over the scores, default 0.2. */
  readonly negativeSlope?: number;
}

const gatOptions: OptionNames<GatOptions> = { ...graphOptions, heads: 1, negativeSlope: 1 };

/**
 * yᵢ = Σⱼ αᵢⱼ·W·xⱼ + b over the edges into i and i itself, α the softmax over them of
 * leakyRelu(a·W·xⱼ + a′·W·xᵢ), for each head.
 *
 * x: f32[N, in], edges: i32[2, E] → f32[N, heads·out]. Throws ShapeError where they do not fit.
 * Veličković et al. 2018; `torch_geometric.nn.GATConv`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param outputs Features of the result.
 * @example
 *   const edges = tensor([[0, 1, 2], [1, 2, 0]], { dtype: "i32" }); // a ring
 *   new nn.GATConv(16, 8, { heads: 4 }).forward(ones([3, 16]), edges).shape // [3, 32]
 */
export class GATConv extends Module {
  readonly weight: Tensor;
  readonly attentionSource: Tensor;
  readonly attentionTarget: Tensor;
  readonly bias: Tensor | undefined;
  readonly inputs: number;
  readonly outputs: number;
  readonly heads: number;
  readonly negativeSlope: number;

  constructor(inputs: number, outputs: number, options: GatOptions = {}) {
    super([inputs, outputs, options]);
    const given = checkOptions("gatConv", options, gatOptions);
    const { bias = true, heads = 1, negativeSlope = 0.2 } = given;
    checkCount("gatConv", "inputs", inputs);
    checkCount("gatConv", "outputs", outputs);
    checkCount("gatConv", "heads", heads);
    [this.inputs, this.outputs, this.heads] = [inputs, outputs, heads];
    this.negativeSlope = negativeSlope;
    this.weight = weight("weight", [heads * outputs, inputs], xavierUniform());
    this.attentionSource = weight("attentionSource", [heads, outputs], xavierUniform());
    this.attentionTarget = weight("attentionTarget", [heads, outputs], xavierUniform());
    if (bias) this.bias = weight("bias", [heads * outputs], constant(0));
  }

  override forward(x: Tensor, edges: Tensor): Tensor {
    checkExtent("gatConv", x, -1, this.inputs, "inputs");
    const [from, to] = endsOf("gatConv", edges);
    const n = x.shape[0] as Dim;
    const loops = iota([n]).convert(from.dtype);
    const [source, target] = [concat([from, loops]), concat([to, loops])];
    const h = x.matmul(this.weight.transpose([1, 0])).reshape([n, this.heads, this.outputs]);
    const given = h.mul(this.attentionSource).sum(-1);
    const asked = h.mul(this.attentionTarget).sum(-1);
    const scores = leakyRelu(take(given, source).add(take(asked, target)), this.negativeSlope);
    const shares = segmentSoftmax(scores, target, n);
    const y = segmentSum(take(h, source).mul(shares.expandDims(-1)), target, n);
    const flat = y.reshape([n, this.heads * this.outputs]);
    return this.bias ? flat.add(this.bias) : flat;
  }

  override describe(): string {
    return `${this.inputs} → ${this.heads}×${this.outputs}`;
  }
}

export interface SageOptions extends GraphLayerOptions {
  /** Of the neighbours; default "mean". */
  readonly aggregation?: Aggregation;
}

const sageOptions: OptionNames<SageOptions> = { ...graphOptions, aggregation: 1 };

/**
 * yᵢ = W·(mean of the neighbours of i) + b + R·xᵢ.
 *
 * x: f32[N, in], edges: i32[2, E] → f32[N, out]. Throws ShapeError where they do not fit. Hamilton
 * et al. 2017; `torch_geometric.nn.SAGEConv`.
 *
 * @param inputs Features of x; those of the first x where it may be left out.
 * @param outputs Features of the result.
 * @example
 *   const edges = tensor([[0, 1, 2], [1, 2, 0]], { dtype: "i32" }); // a ring
 *   new nn.SAGEConv(16, 32).forward(ones([3, 16]), edges).shape // [3, 32]
 */
export class SAGEConv extends Module {
  readonly neighbours: Linear;
  readonly self: Linear;
  readonly aggregation: Aggregation;

  constructor(inputs: number, outputs: number, options: SageOptions = {}) {
    super([inputs, outputs, options]);
    const { bias = true, aggregation = "mean" } = checkOptions("sageConv", options, sageOptions);
    this.aggregation = aggregation;
    this.neighbours = new Linear(inputs, outputs, { bias });
    this.self = new Linear(inputs, outputs, { bias: false });
  }

  override forward(x: Tensor, edges: Tensor): Tensor {
    const near = messagePassing(x, edges, undefined, this.aggregation);
    return this.neighbours.forward(near).add(this.self.forward(x));
  }

  override describe(): string {
    return `${this.self.inputs} → ${this.self.outputs}, ${this.aggregation}`;
  }
}

export interface GinOptions {
  /** How much more a node counts than a neighbour, at first; default 0. */
  readonly eps?: number;
  /** Learns `eps`; false by default. */
  readonly trainEps?: boolean;
}

const ginOptions: OptionNames<GinOptions> = { eps: 1, trainEps: 1 };

/**
 * yᵢ = f((1 + eps)·xᵢ + Σ of the neighbours of i).
 *
 * x: f32[N, in], edges: i32[2, E] → what f gives. Xu et al. 2019, eq. 4.1;
 * `torch_geometric.nn.GINConv`.
 *
 * @param network What is applied to the sums.
 * @example
 *   const edges = tensor([[0, 1, 2], [1, 2, 0]], { dtype: "i32" }); // a ring
 *   const network = new nn.Sequential(new nn.Linear(8, 16), new nn.ReLU());
 *   new nn.GINConv(network).forward(ones([3, 8]), edges).shape // [3, 16]
 */
export class GINConv extends Module {
  readonly network: Layer;
  readonly eps: Tensor;

  constructor(network: Layer, options: GinOptions = {}) {
    super([network, options]);
    const { eps = 0, trainEps = false } = checkOptions("ginConv", options, ginOptions);
    if (!(network instanceof Module))
      throw new GraphError("ginConv: takes a layer\n  new nn.GINConv(new nn.Linear(8, 16))");
    this.network = network;
    this.eps = param([eps], { name: "eps", trainable: trainEps });
  }

  override forward(x: Tensor, edges: Tensor): Tensor {
    checkTensor("ginConv", x);
    const [source, target] = endsOf("ginConv", edges);
    const own = x.mul(this.eps.add(1));
    return this.network.forward(scatter(own, take(x, source), [target], [0]));
  }
}

export interface PackedGraphs {
  /** All nodes, one graph after the other. */
  readonly x: Tensor;
  /** All edges, of nodes counted through. */
  readonly edges: Tensor;
  /** The graph that each node is of, i32[N]: what segments are summed by. */
  readonly graph: Tensor;
}

/**
 * Graphs as one: nodes stand one after the other, and edges count on.
 *
 * x: f32[Nᵢ, ...] and edges: i32[2, Eᵢ] of each → { x, edges, graph }; `segmentMean(y, graph,
 * graphs.length)` pools a graph. `torch_geometric.data.Batch.from_data_list`.
 *
 * @param graphs x of the nodes, and edges i32[2, E], of each.
 * @example
 *   const one = { x: ones([2, 4]), edges: tensor([[0], [1]], { dtype: "i32" }) };
 *   const pack = nn.packGraphs([one, one]); // twice two nodes and an edge
 *   pack.edges // [[0, 2], [1, 3]]
 *   pack.graph // [0, 0, 1, 1]
 */
export function packGraphs(
  graphs: readonly { readonly x: Tensor; readonly edges: Tensor }[],
): PackedGraphs {
  if (!Array.isArray(graphs) || !graphs.every((g) => g?.x instanceof Tensor))
    throw new GraphError(
      `packGraphs: takes a list of { x, edges }, got ${kindOf(graphs)}\n  give it the graphs as tensors: [{ x, edges }]`,
    );
  if (!graphs.length)
    throw new GraphError("packGraphs: there are no graphs\n  give one graph or more");
  let before = 0;
  const moved = graphs.map(({ x, edges }) => {
    endsOf("packGraphs", edges);
    const count = x.shape[0];
    if (typeof count !== "number")
      throw new ShapeError(
        `packGraphs: a graph has the symbolic number of nodes ${String(count)}\n  pack graphs of known sizes, outside of functions`,
      );
    const from = edges.add(before);
    before += count;
    return { count, from };
  });
  return {
    x: concat(graphs.map((g) => g.x)),
    edges: concat(
      moved.map((m) => m.from),
      1,
    ),
    graph: concat(moved.map(({ count }, i) => iota([count]).mul(0).add(i))),
  };
}
