/** A wasm artifact behind a URL: both modules are fetched, or only the one that was asked for. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  encodeArtifact,
  loadFromUrl,
  packArtifact,
  type UrlOptions,
} from "../../packages/artifact/src/index.ts";
import { refusal, sample, wasmSample } from "./sample.ts";

/** What `use` gives for the address of a server of `files`, and the paths that were asked for. */
async function served<T>(
  files: ReadonlyMap<string, Uint8Array>,
  use: (url: string) => Promise<T>,
): Promise<{ result: T; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    asked.push(url.slice(1));
    const bytes = files.get(url.slice(1));
    response.writeHead(bytes ? 200 : 404).end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    return { result: await use(`http://127.0.0.1:${port}/`), asked };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const files = encodeArtifact(wasmSample);
const load = (options?: UrlOptions, of: ReadonlyMap<string, Uint8Array> = files) =>
  served(of, (url) => loadFromUrl(url, options));
const wasmFiles = (asked: readonly string[]) => asked.filter((f) => f.endsWith(".wasm")).sort();
const { plain, relaxed } = wasmSample.modules!;

test("without an option both modules are fetched, and no kernels are imported", async () => {
  const { result, asked } = await load();
  assert.equal(result, { artifact: wasmSample });
  assert.equal(wasmFiles(asked), ["kernels-relaxed.wasm", "kernels.wasm"]);
});

test("with an option only the one module is fetched, and the other is empty", async () => {
  const none = new Uint8Array(0);
  const quick = await load({ relaxed: true });
  assert.equal(wasmFiles(quick.asked), ["kernels-relaxed.wasm"]);
  assert.equal(quick.result.artifact, { ...wasmSample, modules: { plain: none, relaxed } });
  const exact = await load({ relaxed: false });
  assert.equal(wasmFiles(exact.asked), ["kernels.wasm"]);
  assert.equal(exact.result.artifact, { ...wasmSample, modules: { plain, relaxed: none } });
  assert.is(
    refusal(() => encodeArtifact(exact.result.artifact)),
    "kernels-relaxed.wasm: not a WebAssembly module of version 1",
  );
});

test("the option does not matter for a packed file, which has both", async () => {
  const packed = new Map([["net.kiln", packArtifact(wasmSample)]]);
  const { result } = await served(packed, (url) =>
    loadFromUrl(`${url}net.kiln`, { relaxed: true }),
  );
  assert.equal(result.artifact, wasmSample);
});

test("a module that is asked for and not served, too long or altered is refused", async () => {
  const message = async (edit: (files: Map<string, Uint8Array>) => void): Promise<string> => {
    const changed = new Map(files);
    edit(changed);
    const { result } = await served(changed, (url) =>
      loadFromUrl(url, { relaxed: true }).then(
        () => "loaded",
        (error: Error) => `${error.name}: ${error.message.replaceAll(url, "http://host/")}`,
      ),
    );
    return result;
  };
  const file = "kernels-relaxed.wasm";
  assert.is(await message((f) => f.delete("kernels.wasm")), "loaded");
  assert.is(
    await message((f) => f.delete(file)),
    `ArtifactError: loadFromUrl: http://host/${file} answers 404`,
  );
  assert.is(
    await message((f) => f.set(file, new Uint8Array(1000))),
    `ArtifactError: loadFromUrl: http://host/${file} is longer than ${relaxed.length} bytes`,
  );
  assert.match(
    await message((f) => f.set(file, plain)),
    /^ArtifactError: kernels-relaxed\.wasm: checksum /,
  );
});

test("kernels in JavaScript are not even fetched where scripts are refused", async () => {
  const { result, asked } = await served(encodeArtifact(sample), (url) =>
    loadFromUrl(url, { scripts: false }).then(
      () => "",
      (error: Error) => error.message.replace(url, "URL"),
    ),
  );
  assert.is(
    result,
    "loadFromUrl: URL has kernels in JavaScript, which scripts: false refuses\n  compile it for wasm or webgpu",
  );
  assert.equal(asked, ["manifest.json"]);
});

test.run();
