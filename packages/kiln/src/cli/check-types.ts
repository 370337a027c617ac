/** Checks the types of one script with the user's own tsc and tsconfig, and tells the first complaint. */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { PlainError, short } from "./failure.ts";
import { findUp, resolveFrom, scratchFile } from "./place.ts";

/** Throws PlainError with the first complaint of tsc, if typescript is installed at all. */
export function checkTypes(script: string): void {
  const manifest = resolveFrom(script, "typescript/package.json");
  if (!manifest) return;
  const { path: config, done } = scratchFile(script, "tsconfig.json");
  try {
    writeConfig(config, script);
    const tsc = join(dirname(manifest), "bin/tsc");
    const args = [tsc, "--project", config, "--pretty", "false"];
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: "utf8" });
    if (status !== 0) reportTypes(stdout, script);
  } finally {
    done();
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
function writeConfig(path: string, script: string): void {
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
}
