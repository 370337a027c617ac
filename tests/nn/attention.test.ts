/**
 * Multi-head attention against PyTorch, whose three input projections are one matrix.
 */
import { grad, input, trace, type Value } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { asValue, close, fixture, type Named, type Packed, Session, tensorOf } from "./fixture.ts";

interface AttentionCase {
  readonly x: Packed;
  readonly y: Packed;
  readonly weights: Packed;
  readonly dx: Packed;
}
type Fixture = { state: Named } & Record<"plain" | "causal", AttentionCase>;
const cases = fixture<Fixture>("attention");

/** Splits `in_proj` into the projections of query, key and value. */
function ours(state: Named): Named {
  const third = (name: string, i: number, shape: number[]): Packed => {
    const { data } = state[name]!;
    return { shape, data: data.slice((i * data.length) / 3, ((i + 1) * data.length) / 3) };
  };
  const parts = ["query", "key", "value"].flatMap((name, i) => [
    [`${name}.weight`, third("in_proj_weight", i, [4, 4])],
    [`${name}.bias`, third("in_proj_bias", i, [4])],
  ]);
  const out = { "out.weight": state["out_proj.weight"]!, "out.bias": state["out_proj.bias"]! };
  return { ...(Object.fromEntries(parts) as Named), ...out };
}

for (const name of ["plain", "causal"] as const)
  test(`${name} attention agrees with PyTorch`, () => {
    const c = cases[name];
    const layer = new nn.MultiHeadAttention(4, 2);
    const x = input("x", "f32", c.x.shape);
    const { value } = trace(() => {
      const y = layer.forward(x, { causal: name === "causal" });
      return [y, ...grad(y.mul(tensorOf(c.weights)).sum(), [x])];
    });
    const session = new Session().load(layer, ours(cases.state));
    const [y, dx] = session.run(value, new Map(), new Map([[x, asValue(c.x)]]));
    close("y", y!, c.y, 2e-6);
    close("dx", dx!, c.dx, 1e-5);
  });

test("a mask of all true changes nothing, and a query without keys gives no NaN", () => {
  const shape = [1, 2, 2];
  const [q, mask] = [input("q", "f32", shape), input("mask", "bool", [2, 2])];
  const plain = nn.attention(q, q, q);
  const masked = nn.attention(q, q, q, { mask });
  const at = (bits: number[]): Value[] =>
    new Session().run(
      [plain, masked],
      new Map(),
      new Map([
        [q, asValue({ shape, data: [1, 2, 3, 4] })],
        [mask, asValue({ shape: [2, 2], data: bits }, "bool")],
      ]),
    );
  const [a, b] = at([1, 1, 1, 1]);
  assert.equal([...a!.data], [...b!.data]);
  assert.ok([...at([0, 0, 1, 1])[1]!.data].every(Number.isFinite));
});

test("heads must divide the width", () => {
  assert.throws(() => new nn.MultiHeadAttention(6, 4), /width 6 is not a multiple of heads 4/);
});

test.run();
