/**
 * `openModel`: whatever a model lies in, by name, with progress and an end; in Node. Pages are in
 * tests/browser.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type Artifact, encodeArtifact, packArtifact } from "@kiln-ml/artifact";
import { writeArtifact } from "@kiln-ml/artifact/node";
import { build } from "esbuild";
import { compile, nn, type Tensor, useDevice } from "kiln-ml";
import { openModel, type Progress } from "kiln-ml/model";
import { openModel as openLocal } from "kiln-ml/node";
import { exportOnnx } from "kiln-ml/onnx";
import { openWebGpu } from "kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { settings } from "../../packages/kiln/src/devices/settings.ts";
import { gpuTest } from "../support/webgpu.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-open-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

nn.seed(2);
const net = new nn.Linear(3, 2);
const classify = compile(({ x }: { x: Tensor }) => ({ y: net.forward(x) }), {
  inputs: [{ x: ["N", 3] }],
  target: "js",
  name: "classify",
});
const x = Float32Array.of(1, 2, 3, -1, 0, 1);
const made = new Map<string, Promise<Artifact>>();
function artifact(target: "js" | "wasm" | "webgpu"): Promise<Artifact> {
  const known = made.get(target) ?? classify.artifact({ target });
  made.set(target, known);
  return known;
}
const wanted = async (): Promise<number[]> => {
  const { y } = await classify({ x: { data: x, shape: [2, 3] } });
  return [...(await y.data())];
};

async function agrees(model: Awaited<ReturnType<typeof openModel>>): Promise<void> {
  const { y } = await model.run({ x: { data: x, shape: [2, 3] } });
  assert.equal(y!.shape, [2, 2]);
  assert.is(y!.dtype, "f32");
  const want = await wanted();
  for (const [i, value] of [...y!.data].entries())
    assert.ok(Math.abs(Number(value) - want[i]!) < 1e-5, `${value} for ${want[i]}`);
}

test("bytes of one file, and the files of a folder", async () => {
  for (const target of ["js", "wasm"] as const) {
    const a = await artifact(target);
    for (const source of [packArtifact(a), new Map(encodeArtifact(a))]) {
      const model = await openModel(source);
      assert.is(model.target, target);
      assert.equal(model.inputs, [{ name: "x", dtype: "f32", shape: ["N", 3] }]);
      assert.equal(
        model.outputs.map((o) => o.name),
        ["y"],
      );
      await agrees(model);
      await model.dispose();
    }
  }
});

gpuTest(
  "a software adapter is refused, and taken where an option or useDevice says so",
  async () => {
    const bytes = packArtifact(await artifact("webgpu"));
    // Files share a process, and one before may have named a device of its own.
    settings.used?.delete("webgpu");
    const refused = await openModel(bytes).catch((error: Error) => error.message);
    assert.match(String(refused), /^openWebGpu: the only adapter is software /);
    const asked = await openModel(bytes, { allowSoftware: true });
    assert.is(asked.target, "webgpu");
    await agrees(asked);
    await asked.dispose();
    const onnx = await openModel(await onnxBytes(), { targets: ["webgpu"], allowSoftware: true });
    assert.is(onnx.target, "webgpu");
    const { device } = useDevice(await openWebGpu({ allowSoftware: true }));
    const used = await openModel(bytes);
    await agrees(used);
    await used.dispose();
    device.destroy();
    await device.lost;
    // One that is lost is named no longer.
    const again = await openModel(bytes).catch((error: Error) => error.message);
    assert.match(String(again), /^openWebGpu: the only adapter is software /);
  },
);

test("an array alone is enough where its length tells the shape", async () => {
  const model = await openModel(packArtifact(await artifact("js")));
  const { y } = await model.run({ x });
  assert.equal(y!.shape, [2, 2]);
});

test("an ONNX file, with the names of the file", async () => {
  const bytes = await onnxBytes();
  const model = await openModel(bytes, { targets: ["js"] });
  assert.is(model.target, "js");
  const [input, output] = [model.inputs[0]!.name, model.outputs[0]!.name];
  const { [output]: y } = await model.run({ [input]: { data: x, shape: [2, 3] } });
  const want = await wanted();
  for (const [i, value] of [...y!.data].entries())
    assert.ok(Math.abs(Number(value) - want[i]!) < 1e-5);
});

const onnxBytes = async (): Promise<Uint8Array> =>
  exportOnnx((t: Tensor) => net.forward(t), { inputs: [[2, 3]] } as never);

test("paths of files and folders, in Node", async () => {
  const a = await artifact("wasm");
  await writeArtifact(join(folder, "one.kiln"), a);
  await writeArtifact(join(folder, "many"), a);
  writeFileSync(join(folder, "net.onnx"), await onnxBytes());
  for (const path of ["one.kiln", "many"]) await agrees(await openLocal(join(folder, path)));
  const model = await openLocal(join(folder, "net.onnx"), { targets: ["wasm"] });
  assert.is(model.name, "net.onnx");
  assert.is(model.target, "wasm");
});

test("of several targets the first that runs here", async () => {
  const source = {
    js: packArtifact(await artifact("js")),
    wasm: packArtifact(await artifact("wasm")),
  };
  assert.is((await openModel(source)).target, "wasm");
  assert.is((await openModel(source, { targets: ["js", "wasm"] })).target, "js");
});

/** A server of these files, for as long as `body` takes. */
async function served(
  files: ReadonlyMap<string, Uint8Array>,
  body: (url: string, asked: string[]) => Promise<void>,
): Promise<void> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    const bytes = files.get(request.url!.slice(1));
    response.writeHead(bytes ? 200 : 404, bytes ? { "content-length": bytes.length } : {});
    response.end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a URL, with progress up to all of its bytes", async () => {
  const bytes = packArtifact(await artifact("js"));
  await served(new Map([["net.kiln", bytes]]), async (url) => {
    const seen: Progress[] = [];
    await agrees(await openModel(`${url}/net.kiln`, { onProgress: (p) => seen.push(p) }));
    const fetched = seen.filter((p) => p.phase === "fetch").at(-1);
    assert.equal(fetched, { phase: "fetch", loaded: bytes.length, total: bytes.length });
    assert.equal([...new Set(seen.map((p) => p.phase))], ["fetch", "load", "ready"]);
  });
});

test("of a wasm folder one module is fetched, and its manifest once", async () => {
  const files = new Map(encodeArtifact(await artifact("wasm")));
  await served(files, async (url, asked) => {
    await agrees(await openModel(url));
    assert.is(asked.filter((path) => path.endsWith(".wasm")).length, 1);
    assert.is(asked.filter((path) => path.endsWith("manifest.json")).length, 1);
  });
});

async function message(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => "it opened",
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

test("a signal ends it, before and while it is fetched", async () => {
  const gone = AbortSignal.abort(new Error("gone"));
  assert.is(await message(openModel("http://127.0.0.1:9/", { signal: gone })), "Error: gone");
  const controller = new AbortController();
  const server = createServer((_, response) => {
    response.writeHead(200).write("half");
    controller.abort();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/net.kiln`;
  assert.match(await message(openModel(url, { signal: controller.signal })), /^AbortError/);
  server.closeAllConnections();
  server.close();
});

test("every refusal says what to do", async () => {
  const js = packArtifact(await artifact("js"));
  const bare = await classify.artifact({ target: "js", weights: false });
  const cases: [Promise<unknown>, string][] = [
    [
      openModel("model.kiln"),
      "ArtifactError: openModel: model.kiln is not a URL\n  in Node, openModel of kiln-ml/node takes paths",
    ],
    [
      openModel(js, { targets: ["webgpu"] }),
      "GraphError: openModel: classify is compiled for js, targets are webgpu\n  compile it for one of them, or leave targets out",
    ],
    [
      openModel(js, { targets: [] }),
      "GraphError: openModel: targets must be a list of webgpu, wasm, js, got []\n  leave it out for whatever runs here",
    ],
    [
      openModel({}),
      "DeviceError: openModel: given for nothing, none of which runs here\n  compile it for js too, which runs everywhere",
    ],
    [
      openModel(packArtifact(bare)),
      "GraphError: openModel: classify has no weights for weight\n  compile it without --no-weights, or load it with @kiln-ml/runtime and states of your own",
    ],
    [openModel(new Uint8Array()), "ArtifactError: openModel: the file is empty"],
    [
      openModel(js, { target: "js" } as object),
      "GraphError: openModel: there is no option target\n  did you mean targets?",
    ],
    [
      openModel(js, { worker: true }),
      "GraphError: openModel: there are no workers of the web here\n  in Node, use openModel of kiln-ml/node",
    ],
  ];
  for (const [opening, text] of cases) assert.is(await message(opening), text);
  const model = await openModel(js);
  const runs: [object, string][] = [
    [{ image: x }, "GraphError: run: the model has no input image\n  it has x"],
    [{}, "GraphError: run: input x is missing\n  the model takes x"],
    [x, "GraphError: run: takes inputs by name\n  run({ x })"],
  ];
  for (const [inputs, text] of runs) assert.is(await message(model.run(inputs as never)), text);
});

/** The worker's script as one file, as a package's user has it. */
async function workerScript(): Promise<URL> {
  const outfile = join(folder, "worker.mjs");
  await build({
    entryPoints: ["packages/kiln/src/model-worker-node.ts"],
    bundle: true,
    format: "esm",
    platform: "node",
    outfile,
    conditions: ["@kiln-ml/source"],
    external: ["webgpu", "esbuild"],
    banner: {
      js: 'import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    },
    logLevel: "error",
  });
  return pathToFileURL(outfile);
}

test("in a worker it does the same, with progress, errors and an end", async () => {
  const script = await workerScript();
  const seen: string[] = [];
  const model = await openModel(packArtifact(await artifact("wasm")), {
    worker: new Worker(script) as never,
    onProgress: (p) => seen.push(p.phase),
  });
  assert.is(model.target, "wasm");
  await agrees(model);
  assert.equal(seen, ["load", "ready"]);
  assert.is(
    await message(model.run({ image: x })),
    "GraphError: run: the model has no input image\n  it has x",
  );
  await model.dispose();
  assert.is(await message(model.run({ x })), "GraphError: run: the model is disposed");
  const failing = openModel(new Uint8Array([1, 2, 3]), { worker: new Worker(script) as never });
  assert.match(await message(failing), /^ArtifactError: /);
  const missing = new Worker("throw new Error('no such script')", { eval: true });
  assert.match(
    await message(openModel(x.buffer, { worker: missing as never })),
    /^DeviceError: openModel: the worker ended: no such script\n/,
  );
});

test("an ONNX file takes the device that was given by hand", async () => {
  let lose = (): void => {};
  const lost = new Promise<never>((done) => {
    lose = done as () => void;
  });
  // As a software adapter, which nothing opens by itself.
  useDevice({ target: "webgpu", name: "by hand", features: new Set(), lost } as never);
  try {
    const model = await openModel(await onnxBytes(), { targets: ["webgpu", "js"] });
    assert.is(model.target, "webgpu");
  } finally {
    lose();
    await lost;
  }
});

test.run();
