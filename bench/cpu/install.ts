/**
 * The peers of the CPU table, installed when the table is first asked for and not before: they take 600 MB and none is
 * needed to develop. Versions are pinned. Adapters are bundled beside them, so that each process loads its peer as an
 * application would, without a loader of ours in between.
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

const installed = (name: string, version: string): boolean => {
  const path = join(peerFolder, "node_modules", name, "package.json");
  return existsSync(path) && JSON.parse(readFileSync(path, "utf8")).version === version;
};

/** Installs what is missing. Scripts stay off: one of them fetches GPU libraries. */
export function installPeers(): void {
  mkdirSync(peerFolder, { recursive: true });
  if (Object.entries(versions).every(([name, version]) => installed(name, version))) return;
  const manifest = { name: "kiln-bench-peers", private: true, dependencies: versions };
  writeFileSync(join(peerFolder, "package.json"), JSON.stringify(manifest, null, 2));
  console.error(`installing peers into ${peerFolder}`);
  const how = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", how, { cwd: peerFolder, stdio: ["ignore", "ignore", "inherit"] });
}

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
