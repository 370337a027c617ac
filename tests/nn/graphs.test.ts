/**
 * Graph layers against the matrices they stand for, values and gradients, on js and wasm; what they cost; packed graphs.
 */
import { dim, evaluate, input, segmentMean, type Tensor, tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { each, type Matrix, times } from "../linalg/oracle.ts";
import { agrees, nd, sample } from "../tensor/check.ts";

const edgeList = [[0, 1], [1, 0], [1, 2], [3, 2], [2, 0], [0, 2]] as const; // biome-ignore format: edges
const edges = nd(
  [2, 6],
  [0, 1].flatMap((end) => edgeList.map((e) => e[end]!)),
  "i32",
);
/** Row i has the neighbours whose edges lead to i. */
const adjacency = (n: number): number[][] =>
  Array.from({ length: n }, (_, i) =>
    Array.from({ length: n }, (_, j) => edgeList.filter(([s, t]) => s === j && t === i).length),
  );

const plus = (a: Matrix, b: Matrix): number[][] =>
  a.map((row, i) => row.map((v, j) => v + b[i]![j]!));

/** A layer with the given tensors for parameters, so that gradients reach them. */
function using<L extends nn.Module>(layer: L, parts: Readonly<Record<string, Tensor>>): L {
  for (const [path, t] of Object.entries(parts)) {
    const names = path.split(".");
    const last = names.pop()!;
    let owner = layer as unknown as Record<string, unknown>;
    for (const name of names) owner = owner[name] as Record<string, unknown>;
    owner[last] = t;
  }
  return layer;
}

const transpose = (a: Matrix): number[][] => a[0]!.map((_, j) => a.map((r) => r[j]!));

test("GCNConv is D^(−½)(A + I)D^(−½)·x·Wᵀ + b", async () => {
  await agrees("gcn", {
    of: (x, e, w, b) => using(new nn.GCNConv(3, 2), { weight: w!, bias: b! }).forward(x!, e!),
    oracle: (x, _e, w, b) => {
      const n = x!.shape[0]!;
      const full = plus(
        adjacency(n),
        Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => +(i === j))),
      );
      const d = full.map((row) => row.reduce((s, v) => s + v, 0));
      const scaled = full.map((row, i) => row.map((v, j) => v / Math.sqrt(d[i]! * d[j]!)));
      return each((xm, wm) =>
        times(times(scaled, xm), transpose(wm)).map((row) => row.map((v, j) => v + b!.data[j]!)),
      )(x!, w!);
    },
    inputs: [sample([4, 3]), edges, sample([2, 3], 2), sample([2], 3)],
    symbols: [["N", 3], [2, "E"], [2, 3], [2]],
    gradients: [0, 2, 3],
    tolerance: 4,
  });
});

test("SAGEConv and GINConv are products with the mean and the sum of neighbours", async () => {
  await agrees("sage", {
    of: (x, e, w, r) =>
      using(new nn.SAGEConv(3, 2, { bias: false }), {
        "neighbours.weight": w!,
        "self.weight": r!,
      }).forward(x!, e!),
    oracle: (x, _e, w, r) => {
      const mean = adjacency(4).map((row) =>
        row.map(
          (v) =>
            v /
            Math.max(
              1,
              row.reduce((s, u) => s + u, 0),
            ),
        ),
      );
      return each((xm, wm, rm) =>
        plus(times(times(mean, xm), transpose(wm)), times(xm, transpose(rm))),
      )(x!, w!, r!);
    },
    inputs: [sample([4, 3]), edges, sample([2, 3], 2), sample([2, 3], 5)],
    symbols: [
      ["N", 3],
      [2, "E"],
      [2, 3],
      [2, 3],
    ],
    gradients: [0, 2, 3],
    tolerance: 4,
  });
  await agrees("gin", {
    of: (x, e, w) =>
      using(new nn.GINConv(new nn.Linear(3, 2, { bias: false })), {
        "network.weight": w!,
        eps: tensor([0.5], { dtype: w!.dtype }),
      }).forward(x!, e!),
    oracle: (x, _e, w) =>
      each((xm, wm) =>
        times(
          plus(
            times(adjacency(4), xm),
            xm.map((r) => r.map((v) => 1.5 * v)),
          ),
          transpose(wm),
        ),
      )(x!, w!),
    inputs: [sample([4, 3]), edges, sample([2, 3], 2)],
    symbols: [
      ["N", 3],
      [2, "E"],
      [2, 3],
    ],
    gradients: [0, 2],
    tolerance: 4,
  });
});

test("GATConv attends over the edges into a node and itself", async () => {
  await agrees("gat", {
    of: (x, e, w, s, t) =>
      using(new nn.GATConv(3, 2, { heads: 2, bias: false }), {
        weight: w!,
        attentionSource: s!,
        attentionTarget: t!,
      }).forward(x!, e!),
    oracle: (x, _e, w, s, t) =>
      each((xm, wm) => {
        const h = times(xm, transpose(wm));
        return h.map((_, i) => {
          const near = [...edgeList.filter(([, to]) => to === i).map(([from]) => from), i];
          return [0, 1].flatMap((head) => {
            const dot = (v: readonly number[], a: readonly number[]) =>
              [0, 1].reduce((sum, k) => sum + v[2 * head + k]! * a[2 * head + k]!, 0);
            const scores = near
              .map((j) => dot(h[j]!, s!.data) + dot(h[i]!, t!.data))
              .map((v) => (v < 0 ? 0.2 * v : v));
            const shares = scores.map(Math.exp);
            const total = shares.reduce((a, b) => a + b, 0);
            return [0, 1].map((k) =>
              near.reduce((sum, j, m) => sum + (shares[m]! / total) * h[j]![2 * head + k]!, 0),
            );
          });
        });
      })(x!, w!),
    inputs: [sample([4, 3]), edges, sample([4, 3], 2), sample([2, 2], 3), sample([2, 2], 4)],
    symbols: [
      ["N", 3],
      [2, "E"],
      [4, 3],
      [2, 2],
      [2, 2],
    ],
    gradients: [0, 2, 3, 4],
    tolerance: 8,
  });
});

test("a GCN layer takes at most three kernels on every target", () => {
  const net = new nn.GCNConv(16, 8);
  const [x, e] = [input("x", "f32", ["N", 16]), input("e", "i32", [2, dim("E")])];
  const y = net.forward(x, e).relu();
  for (const target of ["js", "wasm", "webgpu"] as const) {
    const program = { inputs: [x, e], outputs: [{ name: "y", value: y }], updates: [] };
    const { artifact } = compileProgram(program, { target });
    const kernels = artifact.plan.steps.map((s) => artifact.kernels[s.kernel]!.name);
    assert.ok(kernels.length <= 3, `${target}: ${kernels.join(" ")}`);
  }
});

test("packed graphs give what each gives alone", () => {
  const graphs = [
    { x: tensor([[1], [2], [4]]), edges: tensor([[0, 1], [1, 2]], { dtype: "i32" }) }, // biome-ignore format: a graph
    { x: tensor([[8], [16]]), edges: tensor([[1], [0]], { dtype: "i32" }) },
  ];
  const packed = nn.packGraphs(graphs);
  const whole = nn.messagePassing(packed.x, packed.edges);
  const alone = graphs.map((g) => nn.messagePassing(g.x, g.edges));
  const values = evaluate([whole, ...alone, segmentMean(packed.x, packed.graph, 2)]).map((v) => [
    ...v.data,
  ]);
  assert.equal(values, [[0, 1, 2, 16, 0], [0, 1, 2], [16, 0], [7 / 3, 12].map(Math.fround)]);
});

test("edges that are none, and other aggregations, are refused", () => {
  const x = input("x", "f32", [3, 2]);
  assert.throws(
    () => new nn.GCNConv(2, 2).forward(x, input("e", "i32", [4, 2])),
    (e: Error) =>
      e.message.startsWith(
        "gcnConv: edges are i32[4,2], not i32[2,E]\n  the first row has the sources",
      ),
  );
  assert.throws(
    () => nn.messagePassing(x, input("e", "i32", [2, 4]), undefined, "median" as never),
    (e: Error) =>
      e.message === 'messagePassing: there is no aggregation median\n  take "sum", "mean" or "max"',
  );
});

test.run();
