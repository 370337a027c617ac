/**
 * What a page downloads for a program: its source as esbuild bundles and minifies it, split where
 * there is an `import()`. Measures, and judges nothing.
 */
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build, type Metafile, type OutputFile } from "esbuild";

/** The repository: npm runs scripts there, and so does the test runner. */
const root = process.cwd();

export interface Page {
  readonly contents: string;
  /** Which of the files behind an `import()` it comes to need; all by default. */
  readonly loads?: RegExp;
}

const nothing = /^$/;
const wasmTarget = /compiler\/src\/compile-entry\.ts|targets\/wasm\/target|devices\/wasm\.ts/;

/** A page that fetches an artifact and runs it on the device that `open` gives. */
const running = (open: string, from: string): string =>
  `import { loadFromUrl } from "@kiln-ml/artifact"; import { ${open}, initialStates, load } from "${from}"; export const page = [loadFromUrl, ${open}, initialStates, load];`;

const inference = running("createWasmDevice", "@kiln-ml/runtime");
const loader =
  'export * from "@kiln-ml/artifact"; export { createCpuDevice, DeviceArray, Executable, initialStates, load, openWebGpu, restore } from "@kiln-ml/runtime";';
const opening = 'import { openModel } from "kiln-ml/model"; export const page = openModel;';
const compileOnly = 'import * as kiln from "kiln-ml"; export const compile = kiln.compile;';
const training =
  'import { compile, nn, optim } from "kiln-ml"; export const page = [compile, nn.Linear, nn.crossEntropy, optim.Adam];';

const shaken =
  'import { compile } from "kiln-ml"; import * as nn from "kiln-ml/nn"; import * as optim from "kiln-ml/optim"; export const page = [compile, nn.Linear, nn.ReLU, nn.crossEntropy, optim.Adam];';

/** From the least a page may load to all there is. */
export const pages = {
  "artifact runtime, js": {
    contents: running("createCpuDevice", "@kiln-ml/runtime/run-js"),
    loads: nothing,
  },
  "artifact runtime, wasm": {
    contents: running("createWasmDevice", "@kiln-ml/runtime/run-wasm"),
    loads: nothing,
  },
  "artifact runtime, webgpu": {
    contents: running("openWebGpu", "@kiln-ml/runtime/run-webgpu"),
    loads: nothing,
  },
  "wasm inference from a URL": { contents: inference, loads: nothing },
  "openModel on wasm": { contents: opening, loads: /devices\/wasm\.ts/ },
  "runtime loader": { contents: loader, loads: nothing },
  "runtime loader with wasm": {
    contents: 'export * from "@kiln-ml/artifact"; export * from "@kiln-ml/runtime";',
    loads: nothing,
  },
  "kiln-ml, compile for wasm": { contents: compileOnly, loads: wasmTarget },
  "kiln-ml, training on wasm": { contents: training, loads: wasmTarget },
  "kiln-ml/nn, training on wasm": { contents: shaken, loads: wasmTarget },
  "kiln-ml, compile only, all targets": { contents: compileOnly },
  "kiln-ml, everything": { contents: 'export * from "kiln-ml";' },
} as const satisfies Record<string, Page>;

/** kB of gzip at most, held by `tests/runtime/size.test.ts`. */
export const limits = {
  "artifact runtime, js": 18,
  "artifact runtime, wasm": 21,
  "artifact runtime, webgpu": 24,
  "wasm inference from a URL": 22.1,
  "openModel on wasm": 29.8,
  "runtime loader": 22,
  "runtime loader with wasm": 26.5,
  "kiln-ml, compile for wasm": 171.5,
  "kiln-ml/nn, training on wasm": 182.5,
} as const satisfies Partial<Record<keyof typeof pages, number>>;

export interface PageSize {
  readonly minified: number;
  readonly gzip: number;
  readonly brotli: number;
  /** How many files of a bundle it takes. */
  readonly chunks: number;
  /** The files that something is left of, relative to the repository. */
  readonly files: readonly string[];
}

/** Bytes of what a page downloads, each chunk compressed by itself. */
export async function pageSize({ contents, loads = /^/ }: Page): Promise<PageSize> {
  const { outputFiles, metafile } = await bundled(contents);
  const names = downloaded(metafile, loads);
  const chunks = names.map((name) => contentsOf(outputFiles, name));
  const sum = (sizeOf: (bytes: Uint8Array) => number): number =>
    chunks.reduce((total, bytes) => total + sizeOf(bytes), 0);
  return {
    minified: sum((bytes) => bytes.byteLength),
    gzip: sum((bytes) => gzipSync(bytes, { level: 9 }).byteLength),
    brotli: sum((bytes) => brotliCompressSync(bytes).byteLength),
    chunks: names.length,
    files: names.flatMap((name) =>
      Object.entries(metafile.outputs[name]!.inputs).flatMap(([file, { bytesInOutput }]) =>
        bytesInOutput ? [file] : [],
      ),
    ),
  };
}

/** A page's program in chunks, in memory. */
export const bundled = (contents: string) =>
  build({
    stdin: { contents, resolveDir: root, sourcefile: "page.ts" },
    absWorkingDir: root,
    outdir: "page",
    bundle: true,
    splitting: true,
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

/** The chunk of the page, what it imports, and what it comes to need with what that imports. */
export function downloaded({ outputs }: Metafile, loads: RegExp): string[] {
  const found = new Set<string>();
  const enter = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const { path, kind, external } of outputs[name]!.imports) {
      if (external) continue;
      if (kind !== "dynamic-import" || loads.test(outputs[path]!.entryPoint ?? "")) enter(path);
    }
  };
  const [page] = Object.keys(outputs).filter((name) => outputs[name]!.entryPoint === "page.ts");
  enter(page!);
  return [...found];
}

const contentsOf = (files: readonly OutputFile[], name: string): Uint8Array =>
  files.find(({ path }) => path.replaceAll("\\", "/").endsWith(`/${name}`))!.contents;
