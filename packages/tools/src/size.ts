/**
 * Prints what a page downloads, minified and gzipped: the runtime loader by itself, which runs a compiled artifact,
 * and the smallest program that compiles in the page. Measures the source as esbuild bundles it.
 */
import { resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = resolve(import.meta.dirname, "../../..");

const programs = {
  "runtime loader": 'export * from "@kiln-ml/artifact"; export * from "@kiln-ml/runtime";',
  "kiln-ml, compile only": 'import * as kiln from "kiln-ml"; export const compile = kiln.compile;',
  "kiln-ml, everything": 'export * from "kiln-ml";',
};

async function bundle(contents: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["@kiln-ml/source"],
    external: ["node:*", "webgpu"],
    logLevel: "error",
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

for (const [name, contents] of Object.entries(programs)) {
  const bytes = await bundle(contents);
  const kilobytes = (n: number) => `${(n / 1000).toFixed(1)} kB`.padStart(9);
  console.log(
    `${name.padEnd(24)}${kilobytes(bytes.length)} min ${kilobytes(gzipSync(bytes).length)} gzip`,
  );
}
