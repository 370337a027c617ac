/**
 * Builds and packs the published packages and installs the tarballs, offline, into an empty
 * project, as a user would get them; npm asks a registry for peers, so those are linked. The
 * project lives in the system's temporary folder, outside the repository's node_modules.
 */
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { publishedWorkspaces } from "../../packages/tools/src/workspaces.ts";

export interface Project {
  readonly folder: string;
  /** Names of the installed packages of ours. */
  readonly packages: readonly string[];
  write(name: string, text: string): void;
  /**
   * Runs node on a script of the project, or of the repository by absolute path; returns what it
   * prints.
   */
  node(script: string, ...args: string[]): string;
}

const root = resolve(".");

/** The output of a command; what it printed is in the message if it fails. */
function run(command: string, args: readonly string[], cwd: string, env = process.env): string {
  try {
    return execFileSync(command, args, { cwd, env, encoding: "utf8", stdio: "pipe" });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed\n${stdout ?? ""}${stderr ?? ""}`);
  }
}

function npm(args: readonly string[], cwd: string, cache: string): string {
  const npmCli = process.env.npm_execpath;
  const env = { ...process.env, npm_config_cache: cache, npm_config_offline: "true" };
  const quiet = [...args, "--no-audit", "--no-fund", "--ignore-scripts"];
  if (npmCli?.endsWith(".js")) return run(process.execPath, [npmCli, ...quiet], cwd, env);
  return run("npm", quiet, cwd, env);
}

interface Dependent {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** What these depend on, and what that depends on, of others. */
function foreignOf(manifests: readonly Dependent[]): string[] {
  const names = new Set<string>();
  const enter = ({ dependencies = {} }: Dependent): void => {
    for (const name of Object.keys(dependencies)) {
      if (/^(@kiln-ml\/|kiln-ml$)/.test(name) || names.has(name)) continue;
      names.add(name);
      enter(JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")));
    }
  };
  for (const manifest of manifests) enter(manifest);
  return [...names];
}

/** Peers that these cannot do without. */
const peersOf = (manifests: readonly Dependent[]): Set<string> =>
  new Set(
    manifests.flatMap(({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
      Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional),
    ),
  );

/** Peers are the user's own; here those of the repository, which have what they depend on. */
function linkPeers(folder: string, manifests: readonly Dependent[]): void {
  for (const name of peersOf(manifests)) {
    const place = join(folder, "node_modules", name);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, "node_modules", name), place, "junction");
  }
}

/** An empty project in which only the tarballs of our packages are installed. */
export function installedProject(): Project {
  const folder = mkdtempSync(join(tmpdir(), "kiln-pack-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const cache = join(folder, ".npm");
  const workspaces = publishedWorkspaces(root);
  const tsx = ["--conditions=@kiln-ml/source", "--import", "tsx"];
  run(process.execPath, [...tsx, "packages/tools/src/build.ts"], root);
  const chosen = workspaces.flatMap(({ folder: path }) => ["--workspace", path]);
  npm(["pack", "--pack-destination", folder, ...chosen], root, cache);
  // What ours depend on, as it is installed here, since a registry is not asked.
  const manifests: Dependent[] = workspaces.map(({ manifest }) => manifest);
  const foreign = foreignOf(manifests);
  const places = foreign.map((name) => `./node_modules/${name}`);
  if (places.length) npm(["pack", "--pack-destination", folder, ...places], root, cache);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const tarballs = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  const install = ["install", "--legacy-peer-deps", ...tarballs.map((name) => `./${name}`)];
  npm(install, folder, cache);
  linkPeers(folder, manifests);
  return {
    folder,
    packages: workspaces.map(({ manifest }) => manifest.name),
    write: (name, text) => writeFileSync(join(folder, name), text),
    node: (script, ...args) => run(process.execPath, [script, ...args], folder),
  };
}
