/**
 * Bundles the entry of a measured process, so that it starts and runs as an application would, with
 * no loader in between.
 */
import { mkdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";

const folder = resolve("node_modules/.cache/kiln-bench/onnx");
const bundles = new Map<string, Promise<string>>();

/**
 * Where a bundle lies, which packages it finds are beside it, and what stays outside of it besides.
 */
export interface Place {
  readonly folder: string;
  readonly external: readonly string[];
}

/**
 * The path of the bundle, which goes when this process does. Packages with machine code stay
 * outside.
 */
export function bundleProcess(
  entry: string,
  place: Place = { folder, external: [] },
): Promise<string> {
  const bundle = bundles.get(entry) ?? bundleOf(entry, place);
  bundles.set(entry, bundle);
  return bundle;
}

async function bundleOf(entry: string, { folder, external }: Place): Promise<string> {
  mkdirSync(folder, { recursive: true });
  // Runs side by side must not overwrite each other's.
  const outfile = join(folder, `${basename(entry).replace(/\.m?[jt]s$/, "")}-${process.pid}.mjs`);
  process.on("exit", () => rmSync(outfile, { force: true }));
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@kiln-ml/source"],
    external: ["webgpu", "esbuild", "uvu", "playwright-core", ...external],
    // What esbuild bundles of CommonJS asks for `require`.
    banner: {
      js: 'import { createRequire as __create } from "node:module"; const require = __create(import.meta.url);',
    },
    sourcemap: "inline",
    logLevel: "warning",
  });
  return outfile;
}
