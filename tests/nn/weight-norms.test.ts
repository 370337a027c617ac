/**
 * Weight and spectral normalisation against their formulas in double precision: values, gradients,
 * steps of training, and back.
 */
import { GraphError, grad, isFrozen, ShapeError, type Tensor } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import * as optim from "@kiln-ml/optim";
import { compile } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Matrix = number[][];
type Layer = nn.Module & { forward(x: Tensor): Tensor; weight: Tensor };

const rows = [
  [1, -2, 0.5],
  [0.3, 1, 2],
];
const list = async (t: Tensor) => (await t.toList()) as never;
const near = (got: unknown, want: unknown, digits: number, what: string): void => {
  const [a, b] = [got, want].map((x) => [x].flat(9) as number[]) as [number[], number[]];
  assert.is(a.length, b.length, what);
  for (const [i, w] of b.entries())
    assert.ok(
      Math.abs(a[i]! - w) <= digits * Math.max(1, Math.abs(w)),
      `${what} [${i}]: ${a[i]}, want ${w}`,
    );
};
const norm = (v: number[]) => Math.sqrt(v.reduce((s, x) => s + x * x, 0));
const run = async (layer: Layer, target: "js" | "wasm" = "js") =>
  list(await compile((x: Tensor) => layer.forward(x), { target })(rows));

test("weightNorm changes nothing at first, names its parts, and is v of length g", async () => {
  nn.seed(1);
  const plain = new nn.Linear(3, 2);
  nn.seed(1);
  const layer = nn.weightNorm(new nn.Linear(3, 2));
  near(await run(layer), await run(plain), 1e-6, "first");
  assert.equal([...layer.namedParameters().keys()].sort(), ["bias", "weightG", "weightV"]);
  const fields = layer as unknown as Record<string, Tensor>;
  assert.equal(fields.weightG!.shape, [2, 1]);
  const v = (await list(fields.weightV!)) as Matrix;
  const g = (await list(fields.weightG!)) as Matrix;
  near(
    await list(layer.weight),
    v.map((r, i) => r.map((x) => (g[i]![0]! * x) / norm(r))),
    1e-6,
    "weight",
  );
});

for (const target of ["js", "wasm"] as const)
  test(`${target}: steps of weightNorm are those of its formula`, async () => {
    nn.seed(2);
    const layer = nn.weightNorm(new nn.Linear(3, 2, { bias: false }));
    const fields = layer as unknown as Record<string, Tensor>;
    let v = (await list(fields.weightV!)) as Matrix;
    let g = ((await list(fields.weightG!)) as Matrix).map((r) => r[0]!);
    const opt = new optim.SGD(layer.parameters(), { lr: 0.1 });
    const step = compile((x: Tensor) => opt.step(layer.forward(x).square().sum()), { target });
    for (let n = 0; n < 3; n++) {
      await step(rows);
      // d = ∂Σ(xWᵀ)²/∂W; ∂g = d·v/‖v‖, ∂v = g/‖v‖·d − g·∂g/‖v‖²·v.
      const w = v.map((r, i) => r.map((x) => (g[i]! * x) / norm(r)));
      const y = rows.map((x) => w.map((r) => r.reduce((s, a, k) => s + a * x[k]!, 0)));
      const d = w.map((r, i) =>
        r.map((_, k) => rows.reduce((s, x, b) => s + 2 * y[b]![i]! * x[k]!, 0)),
      );
      const dg = v.map((r, i) => r.reduce((s, x, k) => s + d[i]![k]! * x, 0) / norm(r));
      const dv = v.map((r, i) =>
        r.map((x, k) => (g[i]! / norm(r)) * (d[i]![k]! - (dg[i]! * x) / norm(r))),
      );
      g = g.map((x, i) => x - 0.1 * dg[i]!);
      v = v.map((r, i) => r.map((x, k) => x - 0.1 * dv[i]![k]!));
      near(await list(fields.weightG!), g, 2e-4, `g after ${n + 1}`);
      near(await list(fields.weightV!), v, 2e-4, `v after ${n + 1}`);
    }
  });

test("weightNorm of a convolution has a length for each output, or one of all", () => {
  const of = (axis: number | null) =>
    (nn.weightNorm(new nn.Conv2d(2, 4, 3), { axis }) as unknown as { weightG: Tensor }).weightG
      .shape;
  assert.equal(of(0), [4, 1, 1, 1]);
  assert.equal(of(1), [1, 2, 1, 1]);
  assert.equal(of(null), [1, 1, 1, 1]);
});

/** Steps of power iteration. */
function iterate(
  w: Matrix,
  u: number[],
  count: number,
): { u: number[]; v: number[]; sigma: number } {
  let v: number[] = [];
  for (let i = 0; i < count; i++) {
    v = w[0]!.map((_, k) => w.reduce((s, r, j) => s + r[k]! * u[j]!, 0));
    v = v.map((x) => x / norm(v));
    u = w.map((r) => r.reduce((s, x, k) => s + x * v[k]!, 0));
    u = u.map((x) => x / norm(u));
  }
  return {
    u,
    v,
    sigma: w.reduce((s, r, j) => s + u[j]! * r.reduce((t, x, k) => t + x * v[k]!, 0), 0),
  };
}

for (const target of ["js", "wasm"] as const)
  test(`${target}: spectralNorm divides by σ; a forward in training takes one step of iteration, one in evaluation none`, async () => {
    nn.seed(3);
    const layer = nn.spectralNorm(new nn.Linear(3, 2, { bias: false }));
    const fields = layer as unknown as Record<string, Tensor>;
    const w = (await list(fields.weightOriginal!)) as Matrix;
    const u = (await list(fields.weightU!)) as number[];
    assert.equal([...layer.namedParameters().keys()], ["weightOriginal"]);
    assert.equal([...layer.buffers().keys()].sort(), ["weightU", "weightV"]);
    const after = iterate(w, u, 1);
    near(
      await run(layer, target),
      rows.map((x) => w.map((r) => r.reduce((s, a, k) => s + a * x[k]!, 0) / after.sigma)),
      1e-5,
      "result",
    );
    near(await list(fields.weightU!), after.u, 1e-5, "u");
    near(await list(fields.weightV!), after.v, 1e-5, "v");
    layer.eval();
    await run(layer, target);
    near(await list(fields.weightU!), after.u, 1e-5, "u stays");
    near(
      iterate((await list(layer.weight)) as Matrix, after.u, 60).sigma,
      1,
      1e-3,
      "largest singular value",
    );
  });

test("the gradient of spectralNorm takes u and v as constants", async () => {
  nn.seed(4);
  const layer = nn.spectralNorm(new nn.Linear(3, 2, { bias: false })).eval();
  const fields = layer as unknown as Record<string, Tensor>;
  const slope = compile((x: Tensor) => grad(layer.forward(x).sum(), [fields.weightOriginal!])[0]!, {
    target: "js",
  });
  const got = await list(await slope(rows));
  const w = (await list(fields.weightOriginal!)) as Matrix;
  const [u, v] = [
    (await list(fields.weightU!)) as number[],
    (await list(fields.weightV!)) as number[],
  ];
  const sigma = w.reduce((s, r, j) => s + u[j]! * r.reduce((t, x, k) => t + x * v[k]!, 0), 0);
  const sums = [0, 1, 2].map((k) => rows.reduce((s, x) => s + x[k]!, 0));
  const inner = w.reduce((s, r) => s + r.reduce((t, x, k) => t + x * sums[k]!, 0), 0);
  near(
    got,
    w.map((r, j) => r.map((_, k) => sums[k]! / sigma - (inner * u[j]! * v[k]!) / sigma ** 2)),
    1e-4,
    "gradient",
  );
});

test("removeWeightNorm leaves a plain layer that computes the same", async () => {
  for (const make of [nn.weightNorm, nn.spectralNorm] as ((l: Layer) => Layer)[]) {
    const layer = make(new nn.Linear(3, 2) as Layer).eval() as Layer;
    const before = await run(layer);
    nn.removeWeightNorm(layer);
    assert.equal([...layer.namedParameters().keys()].sort(), ["bias", "weight"]);
    near(await run(layer), before, 1e-6, "after");
  }
});

/** What may stand on a layer beside a weight norm, and what takes it off. */
const beside: Record<string, (layer: Layer) => (() => void) | undefined> = {
  "a norm of the bias": (layer) => {
    nn.weightNorm(layer, { name: "bias", axis: null });
    return () => nn.removeWeightNorm(layer, "bias");
  },
  "a second path": (layer) => {
    nn.lora(layer, { rank: 2 });
    nn.mapParameters(layer, (p) => p.add(0.5));
    return undefined;
  },
  "a hook": (layer) => nn.hook(layer, (_, y) => (y as Tensor).mul(2)),
  "a forward of its own": (layer) => {
    const plain = layer.forward.bind(layer);
    Object.assign(layer, { forward: (x: Tensor) => plain(x).add(1) });
    return undefined;
  },
};

test("removeWeightNorm leaves what else stands on a layer, put before or after it", async () => {
  const norms: Record<string, (l: Layer) => Layer> = {
    weightNorm: nn.weightNorm,
    spectralNorm: nn.spectralNorm,
  };
  for (const [norm, make] of Object.entries(norms))
    for (const [name, put] of Object.entries(beside))
      for (const isFirst of [true, false]) {
        const layer = new nn.Linear(3, 2).eval() as unknown as Layer;
        if (!isFirst) make(layer);
        const takeOff = put(layer);
        if (isFirst) make(layer);
        const before = await run(layer);
        const frozen = [...layer.state().values()].filter(isFrozen).length;
        nn.removeWeightNorm(layer);
        near(await run(layer), before, 1e-5, `${norm} and ${name}`);
        if (frozen) assert.not(layer.namedParameters().has("weight"), "a frozen weight stays so");
        takeOff?.();
        if (takeOff) assert.not(Object.hasOwn(layer, "forward"), `${name} leaves its forward`);
        // A plain layer is one that can be copied and written.
        if (takeOff) assert.is(nn.toConfig(nn.clone(layer)).changes, undefined);
      }
});

const message = (run: () => unknown, kind: typeof GraphError | typeof ShapeError): string => {
  try {
    run();
  } catch (error) {
    assert.instance(error, kind);
    return (error as Error).message;
  }
  return assert.unreachable() as never;
};

test("what has no such weight is refused", () => {
  assert.is(
    message(() => nn.weightNorm(new nn.ReLU() as never), GraphError),
    "weightNorm: ReLU has no parameter weight of its own\n  give it a layer, not the network around it, and the name of a field",
  );
  assert.is(
    message(() => nn.spectralNorm(new nn.Linear(2, 2), { axis: 2 }), ShapeError),
    "spectralNorm: the weight [2,2] has no axis 2\n  count axes from 0",
  );
  assert.is(
    message(() => nn.mergeLora(nn.lora(nn.weightNorm(new nn.Linear(2, 2)))), GraphError),
    "mergeLora: the weight of a layer is computed, by a weight norm\n  call nn.removeWeightNorm first",
  );
  assert.is(
    message(() => nn.removeWeightNorm(new nn.Linear(2, 2)), GraphError),
    "removeWeightNorm: weight of Linear is not computed\n  call nn.weightNorm or nn.spectralNorm first",
  );
});

test.run();
