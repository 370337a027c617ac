/**
 * The code of a page of documentation as one script. Fences marked `ts` or `js` run in order, at
 * the lines they have in the page; `// → text` behind or below a `console.log` is a line that it
 * must print, where `…` stands for anything. Knows nothing of what the pages say.
 */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";

export interface Fence {
  readonly language: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly text: string;
}

/** The fenced blocks of a page, in order. */
export function fencesOf(page: string): Fence[] {
  const fences: Fence[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [i, line] of page.split("\n").entries()) {
    const mark = /^```(\w*)/.exec(line);
    if (mark && open) {
      fences.push({ language: open.language, line: open.line, text: open.lines.join("\n") });
      open = undefined;
    } else if (mark) open = { language: mark[1]!, line: i + 1, lines: [] };
    else open?.lines.push(line);
  }
  if (open) throw new Error(`a fence opened in line ${open.line} is not closed`);
  return fences;
}

/** The page's code with every other line empty, so that line numbers stay. */
export function scriptOf(page: string): string {
  const lines: string[] = [];
  for (const { language, line, text } of fencesOf(page))
    if (language === "ts" || language === "js")
      for (const [i, code] of text.split("\n").entries()) lines[line + i] = code;
  return Array.from(lines, (line) => line ?? "").join("\n");
}

/** What a script must print, line by line; empty lines do not count. */
export const expectedOf = (script: string): string[] =>
  Array.from(script.matchAll(/\/\/ → ?(.*)$/gm), ([, text]) => text!.trimEnd()).filter(Boolean);

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** True if `line` is `expected`, in which `…` stands for anything. */
export const fits = (line: string, expected: string): boolean =>
  new RegExp(`^${expected.split("…").map(literal).join(".*")}$`).test(line);

/**
 * The page with each line it says replaced by the one that was printed, where they differ; the same
 * number of lines.
 */
export function withOutput(page: string, printed: readonly string[]): string {
  let i = 0;
  let code = false;
  const lines = page.split("\n").map((line) => {
    if (line.startsWith("```")) code = !code && /^```(ts|js)$/.test(line);
    const said = code ? /^(.*\/\/ → ?)(.+)$/.exec(line) : null;
    if (!said) return line;
    const now = printed[i++] ?? "";
    return fits(now, said[2]!) ? line : said[1] + now;
  });
  return lines.join("\n");
}

export interface Ran {
  readonly status: number | null;
  readonly lines: readonly string[];
  readonly errors: string;
}

const cache = "node_modules/.cache/kiln-docs";

export type SnippetTarget = "auto" | "js" | "wasm" | "webgpu";

/**
 * Runs a script in a process and an empty folder of its own, on a target unless it names another.
 */
export async function run(name: string, script: string, target: SnippetTarget): Promise<Ran> {
  const file = `${name.replace(/\W/g, "-")}.${target}.${process.pid}.mjs`;
  const out = join(process.cwd(), cache, file);
  const folder = mkdtempSync(join(tmpdir(), "kiln-docs-"));
  try {
    const broken = await bundle(name, script, out, target).then(
      () => undefined,
      (error: Error) => error.message,
    );
    if (broken) return { status: 1, lines: [], errors: broken };
    const { status, stdout, stderr } = await node(["--enable-source-maps", out], folder);
    const lines = stdout.split("\n").map((line) => line.trimEnd());
    return { status, lines: lines.filter(Boolean), errors: stderr };
  } finally {
    rmSync(out, { force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

function node(args: readonly string[], cwd: string): Promise<Ended> {
  return new Promise((resolve) =>
    execFile(process.execPath, args, { cwd }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code ?? 1) : 0, stdout, stderr }),
    ),
  );
}

async function bundle(
  name: string,
  script: string,
  outfile: string,
  target: SnippetTarget,
): Promise<void> {
  const settings = JSON.stringify({ target, softwareAdapter: target === "webgpu" });
  await build({
    stdin: { contents: script, resolveDir: process.cwd(), sourcefile: name, loader: "ts" },
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@kiln-ml/source"],
    banner: { js: `globalThis[Symbol.for("kiln-ml.settings")] = ${settings};` },
    external: ["webgpu", "esbuild", "typescript", "@tensorflow/*"],
    sourcemap: "inline",
    sourcesContent: false,
    logLevel: "silent",
  });
}

/** The complaints of tsc about scripts by name. */
export async function typeErrors(scripts: ReadonlyMap<string, string>): Promise<string[]> {
  const folder = mkdtempSync(join(process.cwd(), mkdir(cache), "types-"));
  try {
    const files = [...scripts].map(([name, script]) => {
      const file = `${name.replace(/\W/g, "-")}.ts`;
      writeFileSync(join(folder, file), `${script}\nexport {};\n`);
      return file;
    });
    const root = join(process.cwd(), "tsconfig.json");
    const compilerOptions = { noUnusedLocals: false, noEmit: true };
    const config = { extends: root, compilerOptions, files, include: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
    const args = ["node_modules/typescript/bin/tsc", "--project", folder, "--pretty", "false"];
    const { stdout } = await node(args, process.cwd());
    return stdout.split("\n").filter((line) => line !== "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mkdir(path: string): string {
  if (!existsSync(path)) mkdirSync(path, { recursive: true });
  return path;
}

export const readPage = (path: string): string => readFileSync(path, "utf8");
