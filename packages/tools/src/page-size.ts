/**
 * What a page downloads for a program: its source as esbuild bundles and minifies it. Measures, and judges nothing;
 * `tests/runtime/size.test.ts` holds the limits.
 */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The repository: npm runs scripts there, and so does the test runner. */
const root = process.cwd();

/** From the least a page may load to all there is. */
export const pages = {
  "wasm inference from a URL":
    'import { loadFromUrl } from "@kiln-ml/artifact"; import { createWasmDevice, initialStates, load } from "@kiln-ml/runtime"; export const page = [loadFromUrl, createWasmDevice, initialStates, load];',
  "runtime loader":
    'export * from "@kiln-ml/artifact"; export { createCpuDevice, DeviceArray, Executable, initialStates, load, openWebGpu, restore } from "@kiln-ml/runtime";',
  "runtime loader with wasm":
    'export * from "@kiln-ml/artifact"; export * from "@kiln-ml/runtime";',
  "kiln-ml, compile only": 'import * as kiln from "kiln-ml"; export const compile = kiln.compile;',
  "kiln-ml, training":
    'import { compile, nn, optim } from "kiln-ml"; export const page = [compile, nn.Linear, nn.crossEntropy, optim.Adam];',
  "kiln-ml, everything": 'export * from "kiln-ml";',
} as const;

export interface PageSize {
  readonly minified: number;
  readonly gzip: number;
  readonly brotli: number;
  /** The files that something is left of, relative to the repository. */
  readonly files: readonly string[];
}

/** Bytes of the program `contents` with all that it imports. */
export async function pageSize(contents: string): Promise<PageSize> {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["@kiln-ml/source"],
    external: ["node:*", "webgpu"],
    logLevel: "error",
  });
  const bytes = outputFiles[0]!.contents;
  const [output] = Object.values(metafile.outputs);
  return {
    minified: bytes.byteLength,
    gzip: gzipSync(bytes, { level: 9 }).byteLength,
    brotli: brotliCompressSync(bytes).byteLength,
    files: Object.entries(output!.inputs).flatMap(([file, { bytesInOutput }]) =>
      bytesInOutput ? [file] : [],
    ),
  };
}
