/**
 * Loads a user's script: JavaScript as it is, TypeScript through Node's own type stripping or tsx, after a check by tsc
 * where typescript is installed. Never writes beside the script.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { PlainError, short } from "./failure.ts";

const isTypeScript = (path: string): boolean => /\.[cm]?tsx?$/.test(path);

/** The exports of a script. Throws PlainError if it does not type-check or nothing here can load it. */
export async function loadScript(
  path: string,
  { check }: { readonly check: boolean },
): Promise<Readonly<Record<string, unknown>>> {
  const script = resolve(path);
  if (isTypeScript(script)) {
    if (check) checkTypes(script);
    await enableTypeScript(script);
  }
  process.setSourceMapsEnabled(true);
  return import(pathToFileURL(script).href);
}

type Front = typeof import("../index.ts");

/** The copy of kiln-ml that the script imports, which need not be ours. */
export async function frontOf(path: string): Promise<Front> {
  const near = resolveFrom(resolve(path), "kiln-ml");
  return near ? import(pathToFileURL(near).href) : import("../index.ts");
}

function resolveFrom(script: string, name: string): string | undefined {
  try {
    return createRequire(script).resolve(name);
  } catch {
    return undefined;
  }
}

async function enableTypeScript(script: string): Promise<void> {
  const loaded = [...process.execArgv, process.env.NODE_OPTIONS ?? ""].some((a) =>
    /\btsx\b/.test(a),
  );
  if (loaded) return;
  const api = resolveFrom(script, "tsx/esm/api") ?? resolveFrom(import.meta.url, "tsx/esm/api");
  if (api) {
    const { register } = (await import(pathToFileURL(api).href)) as { register(): unknown };
    register();
  } else if (!(process.features as { typescript?: unknown }).typescript)
    throw new PlainError(
      `${short(script)}: TypeScript needs tsx on Node ${process.versions.node}\n  npm install --save-dev tsx`,
    );
}

/** Throws PlainError with the first complaint of tsc, if typescript is installed at all. */
function checkTypes(script: string): void {
  const manifest = resolveFrom(script, "typescript/package.json");
  if (!manifest) return;
  const config = writeConfig(script);
  try {
    const tsc = join(dirname(manifest), "bin/tsc");
    const args = [tsc, "--project", config, "--pretty", "false"];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) reportTypes(stdout, script);
  } finally {
    rmSync(config, { force: true });
  }
}

/** tsc prints `file.ts(12,5): error TS2345: text`; indented lines continue it. */
function reportTypes(output: string, script: string): void {
  const errors = output.split("\n").filter((line) => /error TS\d+:/.test(line));
  const first = /^(.*)\((\d+),(\d+)\): error (TS\d+): (.*)$/.exec(errors[0] ?? "");
  if (!first) throw new PlainError(`${short(script)}: tsc failed: ${(errors[0] ?? output).trim()}`);
  const [, file, line, column, code, text] = first;
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : "";
  throw new PlainError(`${short(resolve(file!))}:${line}:${column}: ${text} (${code}${more})`);
}

/** A config that checks this script alone, by the rules of the project it is in. */
function writeConfig(script: string): string {
  const modules = findUp(dirname(script), "node_modules");
  const folder = modules ? join(modules, ".cache/kiln") : tmpdir();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `tsconfig.${process.pid}.json`);
  const project = findUp(dirname(script), "tsconfig.json");
  const defaults = {
    target: "es2022",
    lib: ["es2023", "dom"],
    module: "nodenext",
    strict: true,
    allowImportingTsExtensions: true,
  };
  writeFileSync(
    path,
    JSON.stringify({
      ...(project ? { extends: project } : {}),
      compilerOptions: {
        ...(project ? {} : defaults),
        noEmit: true,
        skipLibCheck: true,
        composite: false,
        incremental: false,
      },
      files: [script],
      include: [],
    }),
  );
  return path;
}

function findUp(folder: string, name: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, name))) return join(at, name);
    if (dirname(at) === at) return undefined;
  }
}
