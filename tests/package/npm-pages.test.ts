/** What npm shows of each package: manifests that agree with the table of READMEs, and uses in them that run. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { packagePages } from "../../packages/tools/src/docs/readmes.ts";
import { publishedWorkspaces } from "../../packages/tools/src/workspaces.ts";

const workspaces = publishedWorkspaces(resolve("."));
const manifestOf = (folder: string) => JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));

test("every published package has a page, and a manifest that agrees with it", () => {
  assert.equal(packagePages.map((p) => p.folder).sort(), workspaces.map((w) => w.folder).sort());
  for (const { folder, name, description, keywords } of packagePages) {
    const manifest = manifestOf(folder);
    assert.is(manifest.name, name);
    assert.is(manifest.description, description);
    assert.equal(manifest.keywords, keywords);
    assert.is(manifest.license, "Apache-2.0");
    assert.equal(manifest.engines, manifestOf(".").engines);
  }
});

test("a repository stands in all manifests or in none", () => {
  const { repository } = manifestOf(".");
  for (const { folder } of workspaces)
    assert.equal(
      manifestOf(folder).repository,
      repository === undefined ? undefined : { ...repository, directory: folder },
    );
});

test("all packages have one version, and depend on each other at that", () => {
  const { version } = manifestOf("packages/kiln");
  for (const { folder } of workspaces) {
    const manifest = manifestOf(folder);
    assert.is(manifest.version, version);
    for (const [name, range] of Object.entries(manifest.dependencies ?? {}))
      if (/^(@kiln-ml\/|kiln-ml$)/.test(name)) assert.is(range, version, `${folder}: ${name}`);
  }
});

test("the use in each README runs, and prints something", () => {
  const folder = resolve("node_modules/.cache", `kiln-readmes-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    const names = packagePages.map((p, i) => {
      writeFileSync(join(folder, `use${i}.mts`), p.use);
      return `console.log("# ${p.name}"); await import("./use${i}.mts");`;
    });
    writeFileSync(join(folder, "all.mts"), names.join("\n"));
    const tsx = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
    const node = ["--conditions=@kiln-ml/source", "--import", tsx, join(folder, "all.mts")];
    const { stdout, stderr, status } = spawnSync(process.execPath, node, { encoding: "utf8" });
    assert.is(status, 0, stderr);
    const parts = stdout.split(/^# .*\n/m).slice(1);
    assert.is(parts.length, packagePages.length, stdout);
    for (const [i, text] of parts.entries()) assert.ok(text.trim(), packagePages[i]!.name);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
