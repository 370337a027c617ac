/** The loader stays small and alone: runtime and artifact package, no compiler, of the IR only the error classes. */
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { test } from "uvu";
import * as assert from "uvu/assert";

const maxGzipBytes = 20 * 1024;

test("the whole loader is at most 20 KB of gzip and carries no compiler or IR", async () => {
  const text = `export * from "@kiln-ml/runtime"; export * from "@kiln-ml/artifact";`;
  const { outputFiles, metafile } = await build({
    stdin: { contents: text, resolveDir: process.cwd() },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    conditions: ["@kiln-ml/source"],
  });
  const strangers = Object.keys(metafile.inputs).filter(
    (path) => !/^(<stdin>|runtime\/|packages\/artifact\/|packages\/ir\/src\/errors\.ts)/.test(path),
  );
  assert.equal(strangers, []);
  const bytes = gzipSync(outputFiles[0]!.contents, { level: 9 }).byteLength;
  assert.ok(bytes <= maxGzipBytes, `${bytes} bytes`);
});

test.run();
