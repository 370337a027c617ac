/** Streams of keys: anew at every run and every call, the same from the same seed, and resumed from a checkpoint. */
import { compile, loadState, nn, random, stateBytes, type Tensor } from "kiln-ml";
import { test } from "uvu";
import * as assert from "uvu/assert";

class Noise extends nn.Module {
  readonly keys: nn.KeyStream;
  constructor(seed?: number) {
    super();
    this.keys = new nn.KeyStream(seed === undefined ? {} : { seed });
  }
  override forward(): [Tensor, Tensor] {
    return [random.normal(this.keys.next(), [4]), random.normal(this.keys.next(), [4])];
  }
}

async function draws(noise: Noise, runs: number): Promise<string[]> {
  const draw = compile(() => noise.forward());
  const out: string[] = [];
  for (let i = 0; i < runs; i++) for (const t of await draw()) out.push((await t.data()).join());
  return out;
}

test("every call and every run draws anew, in evaluation too", async () => {
  const noise = new Noise(1);
  noise.eval();
  const all = await draws(noise, 3);
  assert.is(new Set(all).size, 6);
  assert.equal(await draws(new Noise(1), 3), all);
});

test("without a seed of its own a stream follows nn.seed", async () => {
  const made = () => {
    nn.seed(5);
    return [new Noise(), new Noise()] as const;
  };
  const [a, b] = made();
  const [c] = made();
  const first = await draws(a, 1);
  assert.equal(await draws(c, 1), first);
  assert.not.equal(await draws(b, 1), first);
});

test("a checkpoint resumes it", async () => {
  const whole = await draws(new Noise(9), 4);
  const half = new Noise(9);
  await draws(half, 2);
  const resumed = new Noise(0);
  await loadState(resumed, await stateBytes(half));
  assert.equal(await draws(resumed, 2), whole.slice(4));
});

test.run();
