/**
 * `npm run release -- --dry-run`: builds, packs every published workspace, has publint and arethetypeswrong look at the tarballs, and
 * lists what would be published. Without `--dry-run` it publishes them, dependencies first, with provenance, if there is no complaint.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { publishedWorkspaces, type Workspace } from "./workspaces.ts";

const root = resolve(import.meta.dirname, "../../..");
const out = join(root, "node_modules/.cache/kiln-release");

interface Tarball {
  readonly workspace: Workspace;
  readonly path: string;
  readonly size: number;
  readonly unpackedSize: number;
  readonly files: readonly { readonly path: string }[];
}

function run(command: string, args: readonly string[]): string {
  return execFileSync(command, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
}

function pack(workspace: Workspace): Tarball {
  const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", out];
  const [made] = JSON.parse(run("npm", [...args, "--workspace", workspace.folder]));
  const { filename, size, unpackedSize, files } = made;
  return { workspace, path: join(out, filename), size, unpackedSize, files };
}

/** What a tarball lacks that ours promise. */
function missing({ workspace, files }: Tarball): string[] {
  const { name } = workspace.manifest;
  const has = (pattern: RegExp) => files.some((f) => pattern.test(f.path));
  const wanted = {
    README: /^README\.md$/,
    LICENSE: /^LICENSE$/,
    "source maps": /^dist\/.*\.js\.map$/,
  };
  return Object.entries(wanted).flatMap(([what, pattern]) =>
    has(pattern) ? [] : [`${name}: the tarball has no ${what}`],
  );
}

async function lint({ workspace, path }: Tarball): Promise<string[]> {
  const { messages, pkg } = await publint({
    pack: { tarball: new Uint8Array(readFileSync(path)).buffer },
    strict: true,
  });
  return messages
    .filter((m) => m.type !== "suggestion")
    .map((m) => `${workspace.manifest.name}: publint: ${formatMessage(m, pkg, { color: false })}`);
}

/** ES modules alone are what we publish, so that what `require` would see is no complaint. */
function types({ workspace, path }: Tarball): string[] {
  const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js");
  const args = [attw, path, "--profile", "esm-only", "--format", "json"];
  const { stdout, status } = spawnSync(process.execPath, args, { cwd: root, encoding: "utf8" });
  if (status === 0) return [];
  const { name } = workspace.manifest;
  try {
    const { problems = {} } = JSON.parse(stdout);
    const kinds = Object.entries(problems).map(([kind, list]) => `${kind} ×${(list as []).length}`);
    return [`${name}: arethetypeswrong: ${kinds.join(", ")}`];
  } catch {
    return [`${name}: arethetypeswrong failed: ${stdout.slice(0, 200)}`];
  }
}

/** Dependencies before what depends on them. */
function inOrder(workspaces: readonly Workspace[]): Workspace[] {
  const order = new Set<Workspace>();
  const enter = (w: Workspace): void => {
    if (order.has(w)) return;
    for (const name of Object.keys(w.manifest.dependencies ?? {})) {
      const other = workspaces.find((x) => x.manifest.name === name);
      if (other) enter(other);
    }
    order.add(w);
  };
  for (const w of workspaces) enter(w);
  return [...order];
}

const kB = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** What keeps all of it from being published. */
function unready(): string[] {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return repository
    ? []
    : ["package.json: no repository, which provenance needs; set it there and in the manifests"];
}

const dry = process.argv.includes("--dry-run");
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const tsx = ["--conditions=@kiln-ml/source", "--import", "tsx"];
if (!process.argv.includes("--no-build"))
  run(process.execPath, [...tsx, "packages/tools/src/build.ts"]);
const tarballs = inOrder(publishedWorkspaces(root)).map(pack);
const complaints: string[] = [];
for (const tarball of tarballs)
  complaints.push(...missing(tarball), ...(await lint(tarball)), ...types(tarball));
for (const { workspace, size, unpackedSize, files } of tarballs) {
  const { name } = workspace.manifest;
  const { version } = JSON.parse(
    readFileSync(join(root, workspace.folder, "package.json"), "utf8"),
  );
  console.log(
    `${`${name}@${version}`.padEnd(28)} ${kB(size).padStart(10)} packed, ${kB(unpackedSize).padStart(10)} unpacked, ${files.length} files`,
  );
}
for (const text of complaints) console.error(text);
const blocked = unready();
for (const text of blocked) console.error(`${dry ? "before it is published: " : ""}${text}`);
console.log(`${tarballs.length} packages, ${complaints.length} complaints`);
if (complaints.length || (blocked.length && !dry)) process.exitCode = 1;
else if (!dry)
  for (const { path } of tarballs)
    execFileSync("npm", ["publish", path, "--access", "public", "--provenance"], {
      cwd: root,
      stdio: "inherit",
    });
