/** Models of named tensors over a real port: values, refusals, and requests that run together. */
import { packArtifact } from "@kiln-ml/artifact";
import type { Tensor } from "@kiln-ml/ir";
import { exportArtifact, type InputSpec } from "kiln-ml";
import { openModel } from "kiln-ml/model";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { writeModel } from "../../packages/onnx/src/proto/write.ts";
import { sampleModel } from "../support/onnx-sample.ts";
import { post, refusal, sample, started } from "./asking.ts";

async function opened(fn: (...xs: Tensor[]) => unknown, inputs: InputSpec[]) {
  return openModel(packArtifact(await exportArtifact(fn as never, { inputs, target: "js" })));
}

const rows = await opened(
  (x, k) => ({ y: x.softmax(-1), z: k!.mul(2) }),
  [["N", 3], { shape: ["N"], dtype: "i32" }],
);
const server = await started(rows);
test.after(() => server.stop());

const [first, second] = rows.inputs.map((i) => i.name) as [string, string];
const run = (x: unknown, k: unknown, of = server) =>
  post(of, "/v1/run", { inputs: { [first]: x, [second]: k } });

interface Told {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data: readonly (number | string)[];
}

const outputs = async (response: Response): Promise<Record<string, Told>> =>
  ((await response.json()) as { outputs: Record<string, Told> }).outputs;

test("nested lists and shaped data are the same, and the signature says what there is", async () => {
  const [a, b] = [
    await outputs(await run([[0, 0, 0]], [7])),
    await outputs(await run({ shape: [1, 3], data: [0, 0, 0] }, { shape: [1], data: [7] })),
  ];
  assert.equal(a, b);
  const [y, z] = Object.values(a) as [Told, Told];
  assert.equal(z, { dtype: "i32", shape: [1], data: [14] });
  assert.ok(y.data.every((v) => Math.abs(Number(v) - 1 / 3) < 1e-6));
  const signature = await (await fetch(`${server.url}/v1/signature`)).json();
  assert.equal((signature as { inputs: unknown }).inputs, rows.inputs);
});

test("numbers that JSON lacks come and go as texts", async () => {
  const { data } = Object.values(await outputs(await run([["-Infinity", "NaN", 1]], [1])))[0]!;
  assert.equal(data, ["NaN", "NaN", "NaN"]);
});

test("waiting requests run together, and each hears of its rows alone", async () => {
  assert.is(server.isBatched, true);
  const [runs, before] = [
    await sample(server, "kiln_runs_total"),
    await sample(server, "kiln_rows_total"),
  ];
  const all = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const x = Array.from({ length: 1 + (i % 3) }, (__, r) => [i, r, 0]);
      const told = await outputs(
        await run(
          x,
          x.map((_r, k) => 100 * i + k),
        ),
      );
      const [y, z] = Object.values(told) as [Told, Told];
      assert.equal(
        z.data,
        x.map((_r, k) => 2 * (100 * i + k)),
      );
      for (const [r, row] of x.entries()) {
        const sum = row.reduce((n, v) => n + Math.exp(v), 0);
        for (const [c, v] of row.entries())
          assert.ok(Math.abs(Number(y.data[3 * r + c]) - Math.exp(v) / sum) < 1e-5);
      }
      return x.length;
    }),
  );
  assert.is(
    (await sample(server, "kiln_rows_total")) - before,
    all.reduce((a, b) => a + b, 0),
  );
  assert.ok((await sample(server, "kiln_runs_total")) - runs < 40);
});

test("a model whose rows depend on each other runs each request alone", async () => {
  const model = await opened((x) => x.sub(x.mean(0)), [["N", 2]]);
  const other = await started(model);
  assert.is(other.isBatched, false);
  const name = model.inputs[0]!.name;
  const ask = (v: number) => post(other, "/v1/run", { inputs: { [name]: [[v, v]] } });
  for (const answer of await Promise.all([1, 2, 3].map(ask)))
    assert.equal(Object.values(await outputs(answer))[0]!.data, [0, 0]);
  await other.stop();
});

test("of 1,000 requests at once those that fit are answered, the others told to come again", async () => {
  const small = await started(rows, { queue: 10, batch: 4 });
  const statuses = await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const response = await run([[1, 2, 3]], [1], small);
      await response.arrayBuffer();
      return response.status;
    }),
  );
  const count = (status: number) => statuses.filter((s) => s === status).length;
  assert.is(count(200) + count(429), 1000);
  assert.ok(count(200) >= 11);
  await small.stop();
});

test("an ONNX file is served too", async () => {
  const model = await openModel(writeModel(sampleModel), { targets: ["js"] });
  const other = await started(model);
  const signature = (await (await fetch(`${other.url}/v1/signature`)).json()) as {
    inputs: { name: string }[];
  };
  assert.equal(
    signature.inputs.map((i) => i.name),
    model.inputs.map((i) => i.name),
  );
  await other.stop();
});

const cases: readonly (readonly [wanted: string, body: unknown])[] = [
  [`inputs must be an object with ${first}, ${second}`, {}],
  [
    `inputs.${second} is absent; the model takes ${first}, ${second}`,
    { inputs: { [first]: [[1, 2, 3]] } },
  ],
  [`inputs has what the model does not: w; it has ${first}, ${second}`, { inputs: { w: 1 } }],
  [
    `inputs.${first} has shape [1,2], the model takes [N,3]`,
    { inputs: { [first]: [[1, 2]], [second]: [1] } },
  ],
  [
    `inputs.${first} has lists of 3 and of 2 on axis 1`,
    {
      inputs: {
        [first]: [
          [1, 2, 3],
          [1, 2],
        ],
        [second]: [1, 2],
      },
    },
  ],
  [
    `inputs.${first} has an element that is no number: "x"`,
    { inputs: { [first]: [["x", 2, 3]], [second]: [1] } },
  ],
  [
    `inputs.${second} has 0.5, which is no i32`,
    { inputs: { [first]: [[1, 2, 3]], [second]: [0.5] } },
  ],
  [
    `inputs.${second} has 2 for N, ${first} has 1`,
    { inputs: { [first]: [[1, 2, 3]], [second]: [1, 2] } },
  ],
  [
    `inputs.${first} has 2 elements, its shape [1,3] 3`,
    { inputs: { [first]: { shape: [1, 3], data: [1, 2] }, [second]: [1] } },
  ],
  [
    `inputs.${first} must be nested lists, or an object with shape and data`,
    { inputs: { [first]: { shape: [-1], data: [] }, [second]: [1] } },
  ],
];
for (const [wanted, body] of cases)
  test(wanted, async () =>
    assert.is(await refusal(await post(server, "/v1/run", body)), `400 invalid_value: ${wanted}`),
  );

test.run();
