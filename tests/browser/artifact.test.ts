/** Artifacts behind a URL, loaded and run in a page by the runtime alone, under a strict policy where that matters. */
import { type Artifact, type Constant, encodeArtifact, packArtifact } from "@kiln-ml/artifact";
import { input, toHost } from "@kiln-ml/ir";
import * as nn from "@kiln-ml/nn";
import { createCpuDevice, initialStates, load } from "@kiln-ml/runtime";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { compileProgram } from "../../compiler/src/all.ts";
import { Session } from "../nn/fixture.ts";
import {
  browserTest,
  bundleForPage,
  pageOf,
  resultOf,
  type Site,
  withPage,
} from "../support/browser.ts";

const strict = { "Content-Security-Policy": "default-src 'self'" };
const rows = Float32Array.from({ length: 12 }, (_, i) => Math.sin(i));

/** A small classifier for inference, weights and all. */
function inference(target: "js" | "wasm" | "webgpu"): Artifact {
  nn.seed(3);
  const net = new nn.Sequential(new nn.Linear(4, 5), new nn.GELU(), new nn.Linear(5, 3));
  const x = input("x", "f32", ["N", 4]);
  const outputs = [{ name: "y", value: net.forward(x).softmax() }];
  const { artifact, states } = compileProgram({ inputs: [x], outputs, updates: [] }, { target });
  const session = new Session();
  const weights: Record<string, Constant> = {};
  for (const [i, spec] of artifact.signature.states.entries()) {
    const { dtype, data } = session.valueOf(states[i]!);
    const bytes = new Uint8Array(toHost(dtype, data).buffer);
    weights[spec.name] = { dtype, shape: spec.shape, data: bytes };
  }
  return { ...artifact, weights };
}

/** What the artifact gives in Node. */
async function expected(): Promise<number[]> {
  const artifact = inference("js");
  const device = createCpuDevice();
  const exe = await load(artifact, device, { states: initialStates(artifact, device) });
  const [y] = await exe.run([{ data: rows, shape: [3, 4] }]);
  return [...(await y!.data())];
}

const script = (open: string, url: string, options = "{}"): string => `
import { loadFromUrl } from "@kiln-ml/artifact";
import { createCpuDevice, createWasmDevice, initialStates, load, openWebGpu } from "@kiln-ml/runtime";
async function main() {
  const device = await ${open};
  const { artifact, kernels } = await loadFromUrl("${url}", ${options});
  const states = initialStates(artifact, device);
  const exe = await load(artifact, device, kernels ? { states, kernels } : { states });
  const [y] = await exe.run([{ data: Float32Array.from({ length: 12 }, (_, i) => Math.sin(i)), shape: [3, 4] }]);
  return [...(await y.data())];
}
globalThis.result = main().catch((error) => \`\${error.name}: \${error.message}\`);`;

const openGpu = "openWebGpu({ allowSoftware: true })";

/** A page with the script, and the artifact's files under /model/. */
async function siteOf(
  text: string,
  files: ReadonlyMap<string, Uint8Array>,
  headers?: Readonly<Record<string, string>>,
): Promise<Site> {
  const page = pageOf(await bundleForPage({ text }), headers);
  const served = [...files].map(([name, bytes]) => [`/model/${name}`, bytes] as const);
  return { ...page, files: { ...page.files, ...Object.fromEntries(served) } };
}

browserTest("under a strict policy, a js artifact runs to the same bits as in Node", async () => {
  const files = encodeArtifact(inference("js"));
  const site = await siteOf(script("createCpuDevice()", "model"), files, strict);
  await withPage(site, async (page, { errors }) => {
    assert.equal(await resultOf(page), await expected());
    assert.equal(errors, []);
  });
});

const wasmScript = script(
  "createWasmDevice()",
  "model",
  '{ relaxed: device.features.has("relaxed-simd") }',
);

browserTest(
  "a wasm artifact runs in a page that allows WebAssembly and agrees with js",
  async () => {
    const files = new Map(encodeArtifact(inference("wasm")));
    const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
    // Chromium has relaxed SIMD, so that the page never asks for the other module.
    files.delete("kernels.wasm");
    const site = await siteOf(wasmScript, files, { "Content-Security-Policy": policy });
    const want = await expected();
    await withPage(site, async (page, { errors }) => {
      const got = (await resultOf(page)) as number[];
      assert.is(got.length, want.length, String(got));
      for (const [i, y] of want.entries()) assert.ok(Math.abs(got[i]! - y) <= 1e-5, String(got));
      assert.equal(errors, []);
    });
  },
);

browserTest("a page whose policy forbids WebAssembly says so", async () => {
  const site = await siteOf(wasmScript, encodeArtifact(inference("wasm")), strict);
  await withPage(site, async (page) => {
    assert.match(
      String(await resultOf(page)),
      /^DeviceError: load: this page forbids WebAssembly\n {2}add 'wasm-unsafe-eval' to script-src/,
    );
  });
});

browserTest("a webgpu artifact runs in a page and agrees with js", async () => {
  const files = encodeArtifact(inference("webgpu"));
  const site = await siteOf(script(openGpu, "/model/"), files, strict);
  const want = await expected();
  await withPage(site, async (page) => {
    const got = (await resultOf(page)) as number[];
    assert.is(got.length, want.length, String(got));
    for (const [i, y] of want.entries()) assert.ok(Math.abs(got[i]! - y) <= 1e-5, String(got));
  });
});

browserTest("a packed artifact runs in a page that allows functions from text", async () => {
  const files = new Map([["net.kiln", packArtifact(inference("js"))]]);
  const site = await siteOf(script("createCpuDevice()", "model/net.kiln"), files);
  await withPage(site, async (page) => {
    assert.equal(await resultOf(page), await expected());
  });
});

/** What a page reports for the files of an artifact after `spoil`, with its own port left out. */
async function refusal(spoil: (files: Map<string, Uint8Array>) => void): Promise<string> {
  const files = new Map(encodeArtifact(inference("js")));
  spoil(files);
  const site = await siteOf(script("createCpuDevice()", "model"), files, strict);
  return withPage(site, async (page, { url }) =>
    String(await resultOf(page)).replaceAll(url, "http://host/"),
  );
}

function flip(files: Map<string, Uint8Array>, name: string): void {
  const bytes = files.get(name)!.slice();
  bytes[bytes.length >> 1]! ^= 1;
  files.set(name, bytes);
}

browserTest("a page refuses damaged and hostile artifacts by name", async () => {
  assert.match(
    await refusal((files) => flip(files, "weights.safetensors")),
    /^ArtifactError: weights\.safetensors: checksum [0-9a-f]{8}, the manifest says [0-9a-f]{8}$/,
  );
  assert.match(await refusal((files) => flip(files, "manifest.json")), /^ArtifactError: manifest/);
  assert.is(
    await refusal((files) => files.delete("kernels.js")),
    "ArtifactError: loadFromUrl: http://host/model/kernels.js answers 404",
  );
  const long = await refusal((files) => {
    files.set("kernels.js", new Uint8Array(100_000));
  });
  assert.match(
    long,
    /^ArtifactError: loadFromUrl: http:\/\/host\/model\/kernels\.js is longer than \d+ bytes$/,
  );
  assert.is(
    await refusal((files) => files.set("manifest.json", new TextEncoder().encode("{}"))),
    "ArtifactError: manifest.json: version is undefined, not a positive integer",
  );
});

test.run();
