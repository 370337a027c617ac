/**
 * What a page downloads stays small: the loader is runtime and artifact package alone, and a page
 * that compiles gets no reference evaluator, text form, layers or optimizers that it does not name.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { limits, type PageSize, pageSize, pages } from "../../packages/tools/src/page-size.ts";

const sizeOf = (page: keyof typeof limits): Promise<PageSize> => pageSize(pages[page]);

function within(page: keyof typeof limits, { gzip }: PageSize): void {
  assert.ok(gzip <= limits[page] * 1000, `${page}: ${gzip} bytes, at most ${limits[page]} kB`);
}

test("the whole loader is at most 21.9 kB of gzip and carries no compiler or IR", async () => {
  const size = await sizeOf("runtime loader");
  const allowed = /^(<stdin>|runtime\/|packages\/artifact\/|packages\/ir\/src\/errors\.ts)/;
  assert.equal(
    size.files.filter((file) => !allowed.test(file)),
    [],
  );
  within("runtime loader", size);
});

test("the loader with the wasm device is at most 26.4 kB of gzip, and without it carries none of it", async () => {
  within("runtime loader with wasm", await sizeOf("runtime loader with wasm"));
  const { files } = await sizeOf("runtime loader");
  assert.equal(
    // How many threads there may be is asked without a device.
    files.filter((file) => /^runtime\/.*(wasm(?!-threads)|linear)/.test(file)),
    [],
  );
});

test("the runtime of one target is one file with nothing of the others: 18, 21 and 24 kB of gzip", async () => {
  const others = {
    js: /wasm|linear-memory|gpu|encode|staging/,
    wasm: /devices\/cpu|gpu|encode|staging/,
    webgpu: /devices\/cpu|wasm(?!-modules)|linear-memory/,
  };
  for (const target of ["js", "wasm", "webgpu"] as const) {
    const page = `artifact runtime, ${target}` as const;
    const size = await sizeOf(page);
    assert.equal(
      size.files.filter((f) => f.startsWith("runtime/") && others[target].test(f)),
      [],
      page,
    );
    assert.is(size.chunks, 1, page);
    within(page, size);
  }
});

test("a page that fetches an artifact and runs it on wasm carries no other device and no writer", async () => {
  const size = await sizeOf("wasm inference from a URL");
  assert.equal(
    size.files.filter((file) => /webgpu|gpu-buffer|devices\/cpu|encode|pack-|compiler/.test(file)),
    [],
  );
  within("wasm inference from a URL", size);
});

test("a page that opens a model in one call carries no compiler and no ONNX", async () => {
  const size = await sizeOf("openModel on wasm");
  assert.equal(
    size.files.filter((file) => /compiler|packages\/(onnx|nn)|ir\/src\/(?!errors)/.test(file)),
    [],
  );
  within("openModel on wasm", size);
});

test("a page that compiles for wasm carries no other target and nothing that compiling does without", async () => {
  const size = await sizeOf("kiln-ml, compile for wasm");
  const needless =
    /targets\/(js|wgsl)\/|schedule\/gpu|^packages\/(onnx|formats)\/|^packages\/(nn|optim)\/|^packages\/ir\/src\/(reference\/|evaluate|parse|print|verify|grad)|safetensors|rules\/fast/;
  assert.equal(
    size.files.filter((file) => needless.test(file)),
    [],
  );
  within("kiln-ml, compile for wasm", size);
});

test("a page that takes layers and optimizers from their subpaths carries those that it names", async () => {
  const size = await sizeOf("kiln-ml/nn, training on wasm");
  const named =
    /\/(allowance|arguments|recipes|module|module-scope|lazy|calls|parts|parameter|init|generator|linear|activation|activation-layer|cross-entropy|reduction|optimizer|optimizer-options|members|paths|check|decay|clip|adam|index)\.ts$/;
  assert.equal(
    size.files.filter((file) => /^packages\/(nn|optim|data)\//.test(file) && !named.test(file)),
    ["packages/data/src/batch-shape.ts"],
  );
  within("kiln-ml/nn, training on wasm", size);
});

test.run();
