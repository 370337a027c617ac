/** The repository's own scripts: bad options are a line and exit code 2, `--help` is their usage. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { headerOf } from "../../packages/tools/src/script-options.ts";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
};
const commandOf = (name: string): string[] => scripts[name]!.split(" ").slice(1);
const files = Object.keys(scripts).flatMap((name) => {
  const [file] = scripts[name]!.split(" ").slice(-1);
  const text = file?.endsWith(".ts") ? readFileSync(file, "utf8") : "";
  return /parseArgs|scriptOptions/.test(text) ? [{ name, text }] : [];
});

test("every script that takes options takes them strictly and tells its own", () => {
  assert.ok(files.length > 4);
  for (const { name, text } of files) {
    assert.match(text, "= scriptOptions(", name);
    const usage = headerOf(text);
    assert.match(usage, `npm run ${name}`);
    assert.equal(
      usage.split("\n").filter((line) => line.length > 100),
      [],
      name,
    );
  }
});

test("an option that is not there is one line, and the usage is asked for", () => {
  const call = (...args: string[]) =>
    spawnSync(process.execPath, [...commandOf("fuzz"), ...args], { encoding: "utf8" });
  const bad = call("--hlp");
  assert.is(bad.status, 2);
  assert.match(bad.stderr, /^[\w.]+: Unknown option '--hlp'; --help lists the options\n$/);
  const help = call("--help");
  assert.is(help.status, 0);
  assert.match(help.stdout, /^`npm run fuzz -- --ops /);
});

test.run();
