/**
 * `bench --cpu --against COMMIT`: this tree and an earlier one side by side, workload by workload,
 * sampled in turn. COMMIT may also be a bundled adapter (`FILE.mjs`), for a machine without git.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { build } from "esbuild";
import { compared, type Row } from "../row.ts";
import { relaxedFlag } from "./columns.ts";
import { peerFolder } from "./install.ts";
import type { Measured } from "./measure.ts";
import { Peer } from "./peer.ts";
import { threadsOf } from "./rows.ts";

/** No row may take more than 3 % longer than before. */
const leastRatio = 0.97;
const now = "now";

/** Its workspaces under the names by which its sources import each other. */
function linkWorkspaces(folder: string): void {
  const { workspaces } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const folders = (workspaces as string[]).flatMap((w) =>
    w.endsWith("/*")
      ? readdirSync(join(folder, w.slice(0, -2))).map((name) => join(folder, w.slice(0, -2), name))
      : [join(folder, w)],
  );
  for (const path of folders) {
    if (!existsSync(join(path, "package.json"))) continue;
    const { name } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
    mkdirSync(join(folder, "node_modules", name, ".."), { recursive: true });
    symlinkSync(path, join(folder, "node_modules", name));
  }
}

/** The sources of a commit, in a folder of their own. */
function checkedOut(commit: string): string {
  const sha = execFileSync("git", ["rev-parse", "--short=12", `${commit}^{commit}`], {
    encoding: "utf8",
  }).trim();
  const folder = join(peerFolder, "commits", sha);
  if (existsSync(join(folder, "node_modules"))) return folder;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync("git", ["archive", sha], { maxBuffer: 2 ** 30 });
  execFileSync("tar", ["x", "-C", folder], { input: archive });
  linkWorkspaces(folder);
  return folder;
}

/** Bundles the adapter of a tree; the path of the bundle. */
async function bundled(folder: string, name: string): Promise<string> {
  const outfile = join(peerFolder, `${name}.mjs`);
  await build({
    entryPoints: [join(folder, "bench/cpu/adapters/kiln.ts")],
    outfile,
    absWorkingDir: folder,
    bundle: true,
    external: ["webgpu"],
    conditions: ["@kiln-ml/source"],
    format: "esm",
    platform: "node",
    logLevel: "warning",
  });
  return outfile;
}

/** Two processes for each number of threads: the earlier tree's and this one's. */
export async function sidesFor(
  earlier: string,
  target: string,
  threads: readonly number[],
): Promise<Peer[]> {
  const isBundle = earlier.endsWith(".mjs");
  const paths = [
    [
      basename(earlier, ".mjs"),
      isBundle ? resolve(earlier) : await bundled(checkedOut(earlier), "before"),
    ],
    [now, await bundled(process.cwd(), now)],
  ] as const;
  return threads.flatMap((count) =>
    paths.map(([name, path]) => {
      const args = ["--expose-gc", ...relaxedFlag, path];
      const env = { TARGET: target, THREADS: `${count}` };
      return new Peer(name, count, { file: process.execPath, args, env });
    }),
  );
}

/** The time of this tree, beside the earlier one's; without either, a row that has missed. */
export function againstRows(
  workload: string,
  target: string,
  measured: readonly Measured[],
): Row[] {
  return measured
    .filter((m) => m.name === now)
    .map((m) => {
      const before = measured.find((b) => b.name !== now && b.threads === m.threads)!;
      const metric = `time, ${threadsOf(m.threads)}`;
      const base = { case: workload, target, metric, unit: "ms", peer: before.name };
      if (!m.timing || !before.timing)
        return { ...base, value: null, met: false, note: m.error ?? before.error ?? "no time" };
      const spread = Math.max(m.timing.spread, before.timing.spread);
      const values = { value: m.timing.median, peerValue: before.timing.median };
      return compared({ ...base, ...values, spread }, leastRatio);
    });
}
