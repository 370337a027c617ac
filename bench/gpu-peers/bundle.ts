/**
 * Writes the peers' own scripts into a folder, for a machine with a card: each is one file, but for
 * the packages of the peers and npm `webgpu`, which are installed there.
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { networkScript, ownScripts } from "../gpu-peers.ts";

const external = ["webgpu", "@jax-js/jax", "@tensorflow/*"];

export async function writePeers(folder: string): Promise<void> {
  for (const { from, file } of [...ownScripts, networkScript]) {
    const [source, outfile] = [join("bench/gpu-peers", from), join(folder, file)];
    if (from.endsWith(".py")) copyFileSync(source, outfile);
    else
      await build({
        entryPoints: [source],
        outfile,
        bundle: true,
        platform: "node",
        format: "esm",
        external,
        conditions: ["@kiln-ml/source"],
        logLevel: "error",
      });
  }
}
