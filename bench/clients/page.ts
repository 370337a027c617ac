/**
 * A client in a page: its program is bundled with the packages of a side, in parts as an
 * application's would be, and runs in a headless Chromium. What the page asked for, but for models,
 * is what goes over the wire.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { adapterEnvironment } from "../onnx/adapter.ts";
import { folderOf, type Side } from "./install.ts";

type Files = Record<string, string | Uint8Array>;

const html = '<!doctype html><meta charset="utf-8"><script type="module" src="/main.js"></script>';

async function bundle(program: string, side: Side): Promise<Files> {
  const { outputFiles } = await build({
    entryPoints: { main: join(folderOf(side), `${program}.mjs`) },
    outdir: "/",
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error",
  });
  return Object.fromEntries(outputFiles.map(({ path, contents }) => [path, contents]));
}

/** The WebAssembly that ONNX Runtime asks for beside the page; Kiln has none. */
function runtimeFiles(side: Side): Files {
  const dist = join(folderOf(side), "node_modules/onnxruntime-web/dist");
  if (!existsSync(dist)) return {};
  const names = readdirSync(dist).filter((name) => /^ort-wasm.*\.(mjs|wasm)$/.test(name));
  return Object.fromEntries(names.map((name) => [`/${name}`, readFileSync(join(dist, name))]));
}

/** What the page's program gave, with its bytes; a text says why there is nothing. */
export async function runInPage(
  program: string,
  side: Side,
  models: readonly string[],
): Promise<object | string> {
  Object.assign(process.env, await adapterEnvironment());
  // It looks for the browser when it is loaded.
  const { resultOf, withPage } = await import("../../tests/support/browser.ts");
  const files: Files = {
    "/index.html": html,
    ...(await bundle(program, side)),
    ...runtimeFiles(side),
  };
  for (const path of models)
    files[`/${path.slice(path.lastIndexOf("/") + 1)}`] = readFileSync(
      join(folderOf(side), "node_modules", path),
    );
  return withPage({ files }, async (page, { errors }) => {
    const result = await resultOf(page);
    const asked: string[] = await page.evaluate(() =>
      performance.getEntriesByType("resource").map((r) => new URL(r.name).pathname),
    );
    if (typeof result === "string") return [result, ...errors].join("\n");
    const bytes = [...new Set(asked)]
      .filter((name) => !name.endsWith(".onnx"))
      .reduce((sum, name) => sum + gzipSync(files[name] ?? "").length, 0);
    return { ...(result as object), wireKb: bytes / 1000 };
  });
}
