/**
 * The peers of the CPU table, installed when the table is first asked for and not before: they take
 * 600 MB and none is needed to develop. Versions are pinned. Adapters are bundled beside them, so
 * that each process loads its peer as an application would, without a loader of ours in between.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";

const versions: Readonly<Record<string, string>> = {
  "@jax-js/jax": "0.1.25",
  "@tensorflow/tfjs": "4.22.0",
  "@tensorflow/tfjs-backend-wasm": "4.22.0",
  "onnxruntime-node": "1.30.0",
  "onnxruntime-web": "1.30.0",
};

/** Where peers and bundled adapters lie. */
export const peerFolder = resolve("node_modules/.cache/kiln-bench/cpu");

/** Whether a folder has the package in this version. */
export function installed(folder: string, name: string, version: string): boolean {
  const path = join(folder, "node_modules", name, "package.json");
  return existsSync(path) && JSON.parse(readFileSync(path, "utf8")).version === version;
}

/**
 * Installs what is missing of these packages. Scripts stay off: one of them fetches GPU libraries.
 */
export function installInto(
  folder: string,
  packages: Readonly<Record<string, string>>,
  more: readonly string[] = [],
): void {
  mkdirSync(folder, { recursive: true });
  if (Object.entries(packages).every(([name, version]) => installed(folder, name, version))) return;
  const manifest = { name: "kiln-bench-peers", private: true, dependencies: packages };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2));
  console.error(`installing ${Object.keys(packages).join(", ")} into ${folder}`);
  const how = [
    "install",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...more,
  ];
  execFileSync("npm", how, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
}

export const installPeers = (): void => installInto(peerFolder, versions);

/** Bundles an adapter without its peer; the path of the bundle. */
export async function bundleAdapter(name: string): Promise<string> {
  const outfile = join(peerFolder, `${name}.mjs`);
  await build({
    entryPoints: [`bench/cpu/adapters/${name}.mjs`],
    outfile,
    bundle: true,
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "warning",
  });
  return outfile;
}
