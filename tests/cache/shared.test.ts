/** Calls, `profile`, `artifact`, `inspect` and `tune` share one compilation of a program. */
import { compile, nn, type Tensor } from "kiln-ml";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { cacheCounts, forgetKept } from "../../packages/kiln/src/cache/compile-once.ts";
import type { CompileOptions } from "../../packages/kiln/src/compile/compile-options.ts";
import { settings } from "../../packages/kiln/src/devices/settings.ts";

const test = suite("one compilation");

let store: typeof settings.store;
test.before.each(() => {
  store = settings.store;
  settings.store = null;
  forgetKept();
});
test.after.each(() => {
  if (store === undefined) delete settings.store;
  else settings.store = store;
  forgetKept();
});

const rows = { data: Float32Array.of(1, 2, 3), shape: [1, 3] };

/** A layer's function, whose parameters have their first values: those are programs of their own. */
function layer(options: CompileOptions) {
  const init = () => Float32Array.of(1, 2, 3, 4, 5, 6);
  const net = new nn.Linear(3, 2, { init, bias: false });
  return compile((x: Tensor) => net.forward(x).relu(), { inputs: [[1, 3]], ...options });
}

type Layer = ReturnType<typeof layer>;

const uses: Readonly<Record<string, (f: Layer) => Promise<unknown>>> = {
  call: async (f) => (await f(rows)).data(),
  profile: (f) => f.profile(rows),
  artifact: (f) => f.artifact({ weights: false }),
  inspect: (f) => f.inspect(),
  "inspect with times": (f) => f.inspect({ profile: [rows], runs: 1 }),
  tune: (f) => f.tune([rows], { rounds: 1, warmUp: 0 }),
};

/** Whoever looks on wants to see it done, so that it is compiled for them, and kept. */
const lookers = ["inspect", "inspect with times", "tune"];

/** Programs compiled by each of these in turn. */
async function compiledBy(f: Layer, names: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  for (const name of names) {
    const before = cacheCounts().compiled;
    await uses[name]!(f);
    counts.push(cacheCounts().compiled - before);
  }
  return counts;
}

const seconds = { js: Object.keys(uses), wasm: ["call", "inspect"] };
for (const target of ["js", "wasm"] as const)
  for (const first of Object.keys(uses))
    for (const second of seconds[target])
      test(`${target}: ${first}, then ${second}`, async () => {
        const again = lookers.includes(second) ? 1 : 0;
        assert.equal(await compiledBy(layer({ target }), [first, second]), [1, again]);
      });

test("another function of the same graph finds what was compiled to be looked at", async () => {
  await layer({ target: "js" }).inspect();
  assert.equal(await compiledBy(layer({ target: "js" }), ["call", "artifact"]), [0, 0]);
});

test("a function that keeps nothing compiles for each", async () => {
  const f = layer({ target: "js", cache: false });
  assert.equal(await compiledBy(f, ["inspect", "call", "tune"]), [1, 1, 1]);
});

test.run();
