/**
 * Loads a user's script: JavaScript as it is; TypeScript bundled by esbuild, or through Node's own type stripping, after a
 * check by tsc where typescript is installed. Never writes beside the script.
 */
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findEsbuild, importBundled, syntaxError } from "./bundle.ts";
import { checkTypes } from "./check-types.ts";
import { PlainError, short } from "./failure.ts";

/** By its name alone: what is no script is never run as one. */
export const isScript = (path: string): boolean => /\.[cm]?[jt]sx?$/i.test(path);

const isTypeScript = (path: string): boolean => /\.[cm]?tsx?$/.test(path);

/** The exports of a script. Throws PlainError if it does not type-check or nothing here can load it. */
export async function loadScript(
  path: string,
  { check }: { readonly check: boolean },
): Promise<Readonly<Record<string, unknown>>> {
  const script = resolve(path);
  if (!isTypeScript(script)) return loadJavaScript(script);
  if (check) checkTypes(script);
  const esbuild = await findEsbuild(script);
  if (esbuild) return importBundled(esbuild, script);
  if (!(process.features as { typescript?: unknown }).typescript)
    throw new PlainError(
      `${short(script)}: TypeScript needs esbuild on Node ${process.versions.node}\n  npm install --save-dev esbuild`,
    );
  return import(pathToFileURL(script).href);
}

/** Node's import tells a syntax error without its place: esbuild has it, or Node's own check. */
async function loadJavaScript(script: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(script).href);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const esbuild = await findEsbuild(script);
    const place = (esbuild && (await syntaxError(esbuild, script))) ?? checked(script);
    throw place ? new PlainError(place) : error;
  }
}

/**
 * `file.js:3:5: what is wrong`, as `node --check` prints it with a line, a caret and a message; it
 * looks at this file alone, and runs nothing.
 */
export function checked(script: string): string | undefined {
  const env = { ...process.env, NODE_OPTIONS: "" };
  const { stderr } = spawnSync(process.execPath, ["--check", script], { encoding: "utf8", env });
  const found = /:(\d+)\n.*\n( *)\^+\n[\s\S]*?SyntaxError: (.*)/.exec(stderr);
  return found ? `${short(script)}:${found[1]}:${found[2]!.length + 1}: ${found[3]}` : undefined;
}
