/**
 * Reads the repository for the architecture test: which files there are, what each imports and in which workspace it
 * lies. Imports are found by pattern, not by a parser, which the formatter's one spelling of an import permits.
 */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Import {
  readonly from: string;
  /** `import type`, or nothing but `type` names: gone at run time. */
  readonly typeOnly: boolean;
  readonly dynamic: boolean;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const skipped = new Set([".git", "node_modules", "dist", "coverage", "out"]);
const binary = /\.(png|jpe?g|gz|bin|npy|npz|onnx|safetensors|gguf|wasm|kiln)$/;

/** All text files of the repository by `/`-separated path from the root, installed and built ones left out. */
export function repositoryFiles(folder = "."): SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "." ? entry.name : `${folder}/${entry.name}`;
    if (skipped.has(entry.name)) return [];
    if (entry.isDirectory()) return repositoryFiles(path);
    return entry.isFile() && !binary.test(path) ? [{ path, text: readFileSync(path, "utf8") }] : [];
  });
}

/** Our code: what the rules about imports and length are for. */
export function isCode({ path }: SourceFile): boolean {
  return (
    /^(packages|compiler|runtime|tests|bench)\/.*\.(ts|mjs)$/.test(path) &&
    !/^tests\/(golden|fixtures)\//.test(path)
  );
}

/** The workspace folder of a source file in `src`, or undefined: tests and benches may import anything. */
export function workspaceOf(path: string): string | undefined {
  return /^(packages\/[^/]+|compiler|runtime)\//.exec(path)?.[1];
}

const statement =
  /^(?:import|export)\s+(type\s)?(?:([\w*{][^;"'`]*?)\sfrom\s+)?["']([^"'\n]+)["']/gm;
const call = /\bimport\(\s*["']([^"'\n]+)["']/g;

function namesOnlyTypes(clause: string | undefined): boolean {
  const names = /^\{([^}]*)\}$/.exec(clause?.trim() ?? "")?.[1]?.trim();
  if (!names) return false;
  const listed = names.split(",").map((name) => name.trim());
  return listed.every((name) => name === "" || name.startsWith("type "));
}

export function importsOf(text: string): Import[] {
  const statements = Array.from(text.matchAll(statement), ([, type, clause, from]) => ({
    from: from ?? "",
    typeOnly: type !== undefined || namesOnlyTypes(clause),
    dynamic: false,
  }));
  const calls = Array.from(text.matchAll(call), ([, from]) => ({
    from: from ?? "",
    typeOnly: false,
    dynamic: true,
  }));
  return [...statements, ...calls];
}

/** The path from the root that a relative import names. */
export function resolveRelative(importer: string, from: string): string {
  return join(dirname(importer), from).replaceAll("\\", "/");
}

/** `@kiln-ml/ir/errors` → `@kiln-ml/ir`; `fast-check/x` → `fast-check`. */
export function packageOf(from: string): string {
  const parts = from.split("/");
  return parts.slice(0, from.startsWith("@") ? 2 : 1).join("/");
}
