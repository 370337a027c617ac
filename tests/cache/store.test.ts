/**
 * Kept programs between processes: found, not mistaken, and no trouble where there is no place for
 * them. The processes of a user are played by forgetting what this one keeps.
 */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compile, nn, optim, type Tensor, tensor } from "kiln-ml";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { cacheCounts, forgetKept } from "../../packages/kiln/src/cache/compile-once.ts";
import { Disk, mostBytes } from "../../packages/kiln/src/cache/disk.ts";
import { settings } from "../../packages/kiln/src/devices/settings.ts";

const test = suite("store");
const shared = globalThis as { KILN_BUILD?: string };
let folder = "";
let before: unknown;

test.before.each(() => {
  folder = join(mkdtempSync(join(tmpdir(), "kiln-cache-")), "programs");
  before = [settings.store, process.env.KILN_CACHE, shared.KILN_BUILD];
  start("one build");
});

test.after.each(() => {
  const [store, place, build] = before as [typeof settings.store, string?, string?];
  rmSync(join(folder, ".."), { recursive: true, force: true });
  restore("store", store);
  if (place === undefined) delete process.env.KILN_CACHE;
  else process.env.KILN_CACHE = place;
  if (build === undefined) delete shared.KILN_BUILD;
  else shared.KILN_BUILD = build;
  forgetKept();
});

function restore(_: "store", value: typeof settings.store): void {
  if (value === undefined) delete settings.store;
  else settings.store = value;
}

/** As a new process would begin. */
function start(build: string): void {
  shared.KILN_BUILD = build;
  process.env.KILN_CACHE = folder;
  delete settings.store;
  forgetKept();
}

const xs = tensor([[1, 2, 3]]);

/** A training step of a fresh model, twice, with what it cost and what came out. */
async function train(target: "js" | "wasm" = "js", more: { cache?: boolean } = {}) {
  const counted = cacheCounts();
  const layer = new nn.Linear(3, 2, {
    init: () => Float32Array.of(1, 2, 3, 4, 5, 6),
    bias: false,
  });
  const adam = new optim.SGD([...layer.parameters()], { lr: 0.1, momentum: 0.9 });
  const step = compile(
    (x: Tensor) => {
      const loss = layer.forward(x).square().mean();
      adam.step(loss);
      return loss;
    },
    { target, ...more },
  );
  const losses = [await (await step(xs)).item(), await (await step(xs)).item()];
  const { compiled, fromMemory, fromStore } = cacheCounts();
  return {
    losses,
    step,
    compiled: compiled - counted.compiled,
    fromMemory: fromMemory - counted.fromMemory,
    fromStore: fromStore - counted.fromStore,
  };
}

const kept = () => readdirSync(folder).filter((name) => name.endsWith(".kiln"));

for (const target of ["js", "wasm"] as const)
  test(`the second process of a training step compiles nothing: ${target}`, async () => {
    const first = await train(target);
    assert.ok(first.compiled > 0 && first.fromStore === 0);
    start("one build");
    const second = await train(target);
    assert.is(second.compiled, 0);
    assert.is(second.fromStore, first.compiled);
    assert.equal(second.losses, first.losses);
  });

test("functions of one process share a program, and so do a call and its artifact", async () => {
  const first = await train();
  const again = await train();
  assert.is(again.compiled, 0);
  assert.equal(again.losses, first.losses);
  const counted = cacheCounts();
  const a = await again.step.artifact({ name: "other" });
  await again.step.profile(xs);
  assert.is(a.name, "other");
  assert.is(cacheCounts().compiled, counted.compiled);
});

test("another build finds nothing", async () => {
  const { compiled } = await train();
  start("another build");
  const second = await train();
  assert.is(second.fromStore, 0);
  assert.is(second.compiled, compiled);
});

test("without a hash of the build, or with it turned off, nothing is kept", async () => {
  await train("js", { cache: false });
  assert.not.ok(existsSync(folder));
  process.env.KILN_CACHE = "off";
  delete settings.store;
  await train();
  start("one build");
  delete shared.KILN_BUILD;
  await train();
  assert.not.ok(existsSync(folder));
});

const damages: Record<string, (bytes: Buffer) => Buffer> = {
  empty: () => Buffer.alloc(0),
  cut: (b) => b.subarray(0, b.length - 7),
  longer: (b) => Buffer.concat([b, Buffer.from("more")]),
  "one bit flipped": (b) => {
    b[b.length >> 1]! ^= 1;
    return b;
  },
  "another head": (b) => {
    b[20]! ^= 1;
    return b;
  },
  "something else": () => Buffer.from("function main() { throw 1; }"),
};

for (const [name, damage] of Object.entries(damages))
  test(`an entry that is ${name} is compiled anew and replaced`, async () => {
    const first = await train();
    for (const file of kept()) {
      const path = join(folder, file);
      writeFileSync(path, damage(readFileSync(path)));
    }
    start("one build");
    const second = await train();
    assert.equal(second.losses, first.losses);
    assert.is(second.compiled, first.compiled);
    start("one build");
    assert.is((await train()).compiled, 0);
  });

test("an entry under the key of another is none", async () => {
  const { losses } = await train();
  const [one, two] = kept();
  assert.ok(one);
  if (two === undefined) {
    start("one build");
    await train("wasm");
  }
  const files = kept().map((f) => join(folder, f));
  renameSync(files[0]!, `${files[0]}.moved`);
  writeFileSync(files[0]!, readFileSync(files[1]!));
  start("one build");
  assert.equal((await train()).losses, losses);
});

/** What is said to the user while `work` runs. */
async function warnings(work: () => Promise<unknown>): Promise<string[]> {
  const said: string[] = [];
  const { warn } = console;
  console.warn = (text: string) => said.push(text);
  try {
    await work();
  } finally {
    console.warn = warn;
  }
  return said;
}

test("where there is no place a program runs all the same, and one line says so", async () => {
  mkdirSync(join(folder, ".."), { recursive: true });
  writeFileSync(folder, "a file in the folder's place");
  const said = await warnings(async () => {
    const { losses } = await train();
    assert.ok(losses[1]! < losses[0]!);
    await train("wasm");
  });
  assert.is(said.length, 1);
  assert.match(said[0]!, /^cache: programs are not kept in .*: .*\n {2}set KILN_CACHE to another/);
});

test("a folder that others may write to is not read", async () => {
  await train();
  if (process.platform === "win32") return;
  chmodSync(folder, 0o777);
  start("one build");
  let second = { fromStore: -1 };
  const said = await warnings(async () => {
    second = await train();
  });
  assert.is(second.fromStore, 0);
  assert.match(said.join(), /others may write there/);
});

test("those used longest ago go, and what is not ours stays", () => {
  const fs = process.getBuiltinModule("node:fs");
  const disk = new Disk(fs, folder);
  const keyOf = (n: number) => n.toString(16).padStart(64, "0");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, "notes.txt"), "mine");
  for (let i = 0; i < 2050; i++) {
    writeFileSync(join(folder, `${keyOf(i)}.kiln`), "");
    utimesSync(join(folder, `${keyOf(i)}.kiln`), 1000 + i, 1000 + i);
  }
  disk.write(keyOf(9999), new Uint8Array(3));
  const left = disk.files();
  assert.is(left[0]!.name, `${keyOf(9999)}.kiln`);
  assert.ok(left.length < 2048 && left.length > 1000, `${left.length}`);
  assert.ok(!existsSync(join(folder, `${keyOf(0)}.kiln`)));
  assert.ok(existsSync(join(folder, `${keyOf(2049)}.kiln`)));
  assert.ok(left.reduce((sum, f) => sum + f.bytes, 0) <= mostBytes);
  disk.clear();
  assert.equal(readdirSync(folder), ["notes.txt"]);
});

test("kiln cache lists and clears", async () => {
  await train();
  const entry = "packages/kiln/src/cli.ts";
  const from = ["--conditions=@kiln-ml/source", "--import", "tsx", entry, "cache"];
  const kiln = (...args: string[]) =>
    execFileSync(process.execPath, [...from, ...args], { encoding: "utf8" });
  const { files } = JSON.parse(kiln("--json"));
  assert.is(files.length, kept().length);
  assert.match(kiln(), /programs, .* of at most/);
  assert.is(kiln("clear"), `${files.length} removed\n`);
  assert.equal(kept(), []);
});

test("two writers of one key leave one whole entry", async () => {
  const fs = process.getBuiltinModule("node:fs");
  const key = "a".repeat(64);
  const [one, two] = [new Disk(fs, folder), new Disk(fs, folder)];
  const [a, b] = [new Uint8Array(1e5).fill(1), new Uint8Array(2e5).fill(2)];
  for (let i = 0; i < 20; i++) {
    one.write(key, a);
    two.write(key, b);
    const found = two.read(key)!;
    assert.ok([a, b].some((w) => w.length === found.length && found.every((x) => x === w[0])));
  }
  assert.equal(readdirSync(folder), [`${key}.kiln`]);
});

test.run();
