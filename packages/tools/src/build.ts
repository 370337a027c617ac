/**
 * Builds each published workspace into its `dist`: ES modules by esbuild (other packages stay
 * imports) and declarations by tsc beside them. Entries of one workspace share chunks, so a class
 * exported twice is one class.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { buildDefine } from "./build-hash.ts";
import { withPlatformTypes } from "./platform-types.ts";
import { publishedWorkspaces, type Workspace } from "./workspaces.ts";

async function bundle(root: string, { folder, entries }: Workspace): Promise<void> {
  const outdir = join(root, folder, "dist");
  rmSync(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: join(root, folder),
    entryPoints: [...entries],
    outdir,
    outbase: "src",
    chunkNames: "chunk-[hash]",
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    target: "es2022",
    define: buildDefine(root),
    sourcemap: true,
    logLevel: "warning",
  });
}

/**
 * Declarations of all workspaces in one run of tsc, under a scratch folder that mirrors the
 * repository.
 */
function declarations(root: string, workspaces: readonly Workspace[]): string {
  const out = join(root, "node_modules/.cache/kiln-types");
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const config = join(out, "tsconfig.json");
  const compilerOptions = {
    noEmit: false,
    emitDeclarationOnly: true,
    declaration: true,
    rootDir: root,
    outDir: out,
  };
  const include = workspaces.map(({ folder }) => join(root, folder, "src"));
  writeFileSync(
    config,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include }),
  );
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  execFileSync(process.execPath, [tsc, "-p", config], { cwd: root, stdio: "inherit" });
  for (const name of readdirSync(out, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".d.ts")) continue;
    const path = join(out, name);
    writeFileSync(path, withPlatformTypes(readFileSync(path, "utf8")));
  }
  return out;
}

const root = resolve(import.meta.dirname, "../../..");
const workspaces = publishedWorkspaces(root);
const started = performance.now();
await Promise.all(workspaces.map((workspace) => bundle(root, workspace)));
const types = declarations(root, workspaces);
for (const { folder } of workspaces) {
  cpSync(join(types, folder, "src"), join(root, folder, "dist"), { recursive: true });
  // Each tarball carries its licence; the one that is kept is the repository's.
  copyFileSync(join(root, "LICENSE"), join(root, folder, "LICENSE"));
}
// Of other documents the package has none: what leads to them names them.
const errors = readFileSync(join(root, "docs/errors.md"), "utf8");
writeFileSync(
  join(root, "packages/kiln/errors.md"),
  errors.replace(/\[([^\]]+)\]\(([\w.#/-]+)\)/g, "$1 (docs/$2)"),
);
const { pageWorkerSource } = await import(
  pathToFileURL(join(root, "runtime/src/devices/wasm-worker.ts")).href
);
for (const folder of ["runtime", "packages/kiln"])
  writeFileSync(join(root, folder, "dist/wasm-worker.js"), pageWorkerSource);
const { bundlePage } = await import(
  pathToFileURL(join(root, "packages/inspector/src/bundle-page.ts")).href
);
const inspector = join(root, "packages/inspector");
for (const [file, entry] of [
  ["page.js", "main.ts"],
  ["frame.js", "frame.ts"],
] as const)
  writeFileSync(
    join(inspector, "dist", file),
    await bundlePage(join(inspector, "src/page", entry)),
  );
const elapsedMs = Math.round(performance.now() - started);
console.log(
  `built ${workspaces.map(({ manifest }) => manifest.name).join(", ")} in ${elapsedMs} ms`,
);
