/**
 * `npm create kiln-app`: what it writes, what it refuses, and that what needs no bundler runs. Vite
 * is in `check:packages`.
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { createApp, templates } from "../../packages/create-kiln-app/src/index.ts";

// Below the repository's node_modules, so that projects find the workspaces as if installed.
const folder = resolve("node_modules/.cache", `kiln-create-${process.pid}`);
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

const tsx = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
const node = ["--conditions=@kiln-ml/source", "--import", tsx];
const run = promisify(execFile);
const script = async (cwd: string, path: string, ...args: string[]) =>
  run(process.execPath, [...node, path, ...args], { cwd });
const version = JSON.parse(readFileSync("packages/kiln/package.json", "utf8")).version;

for (const { name, script: first } of templates)
  test(`the template ${name} is written whole, with a manifest that fits`, async () => {
    const app = join(folder, `My ${name} app`);
    const written = await createApp(app, name);
    for (const path of ["package.json", "tsconfig.json", "README.md", ".gitignore"])
      assert.ok(written.includes(path), path);
    for (const path of written) assert.ok(existsSync(join(app, path)), path);
    const manifest = JSON.parse(readFileSync(join(app, "package.json"), "utf8"));
    assert.is(manifest.name, `my-${name}-app`);
    assert.is(manifest.private, true);
    assert.equal(manifest.dependencies, { "kiln-ml": `^${version}` });
    assert.ok(first in manifest.scripts && "check" in manifest.scripts);
    // Scripts name files that are there.
    const named = Object.values<string>(manifest.scripts).flatMap(
      (s) => s.match(/src\/\S+/g) ?? [],
    );
    for (const path of named) assert.ok(written.includes(path), path);
    const readme = readFileSync(join(app, "README.md"), "utf8");
    for (const [, path] of readme.matchAll(/`(src\/[^`]+)`/g)) assert.ok(written.includes(path!));
    for (const [, name] of readme.matchAll(/^npm (?:run )?(\w+)/gm))
      assert.ok(name === "install" || name! in manifest.scripts, name);
  });

test("the template train learns, and writes a model", async () => {
  const app = join(folder, "train");
  await createApp(app, "train");
  const { stdout } = await script(app, "src/train.ts");
  const share = Number(/^([\d.]+) % of new points are right$/m.exec(stdout)?.[1]);
  assert.ok(share > 90, stdout);
  assert.ok(existsSync(join(app, "spirals.kiln")));
});

test("the template onnx makes the file that its page opens", async () => {
  const app = join(folder, "onnx");
  await createApp(app, "onnx");
  await script(app, "src/model.ts");
  assert.ok(existsSync(join(app, "public/model.onnx")));
  assert.match(readFileSync(join(app, "src/main.ts"), "utf8"), '"/model.onnx"');
});

/** The address that a server prints. */
async function addressOf(server: ChildProcess): Promise<string> {
  for await (const text of server.stdout!) return String(text).trim();
  throw new Error("the server ended");
}

test("the template server answers, and says what a wrong request lacks", async () => {
  const app = join(folder, "server");
  await createApp(app, "server");
  await script(app, "src/model.ts");
  const env = { ...process.env, PORT: "0", WORKER: "0" };
  const stdio = ["ignore", "pipe", "inherit"] as ["ignore", "pipe", "inherit"];
  const server = spawn(process.execPath, [...node, "src/server.ts"], { cwd: app, env, stdio });
  try {
    const url = await addressOf(server);
    const post = async (body: string) => {
      const response = await fetch(url, { method: "POST", body });
      return [response.status, await response.json()];
    };
    const [status, { y }] = await post('{ "x": [[0.5, 0.5], [-0.5, 0.8]] }');
    assert.is(status, 200);
    assert.ok(Math.abs(y[0][0] - 0.25) < 0.1 && Math.abs(y[1][0] + 0.4) < 0.1, JSON.stringify(y));
    assert.equal(await post("x"), [400, { error: "the body is no JSON" }]);
    const rows = 'give rows of two numbers: { "x": [[0.5, 0.5]] }';
    for (const body of ["null", "{}", '{ "x": [] }', '{ "x": [[1]] }', '{ "x": [["1", 2]] }'])
      assert.equal(await post(body), [400, { error: rows }]);
    assert.is((await fetch(url)).status, 405);
  } finally {
    server.kill();
    await once(server, "exit");
  }
});

const cli = resolve("packages/create-kiln-app/src/cli.ts");

test("the command writes a project and says what comes next", async () => {
  const { stdout } = await script(folder, cli, "by-command", "--template=server");
  const { length } = await createApp(join(folder, "again"), "server");
  assert.is(
    stdout,
    `by-command: ${length} files from the template server\n  cd by-command\n  npm install\n  npm run start\n`,
  );
});

test("without a terminal nothing is asked, and what is missing is said", async () => {
  const error = await script(folder, cli, "none").catch((e) => e);
  assert.is(error.code, 1);
  assert.is(
    error.stderr,
    "create-kiln-app: which template is missing\n  --template is train, page, onnx, server\n",
  );
  assert.not.ok(existsSync(join(folder, "none")));
});

const refusal = async (made: () => unknown): Promise<string> => {
  try {
    await made();
  } catch (error) {
    assert.is((error as Error).name, "Refusal");
    return (error as Error).message;
  }
  throw new Error("was not refused");
};

test("a folder that is in use is left as it is", async () => {
  const used = join(folder, "used");
  mkdirSync(join(used, ".git"), { recursive: true });
  writeFileSync(join(used, "notes.txt"), "mine");
  assert.is(
    await refusal(() => createApp(used, "train")),
    `${used} is not empty: it has notes.txt\n  name a new folder`,
  );
  const file = join(used, "notes.txt");
  assert.is(
    await refusal(() => createApp(file, "train")),
    `${file} is a file\n  name a new folder`,
  );
  assert.is(
    await refusal(() => createApp(join(file, "app"), "train")),
    `${join(file, "app")} lies in a file, not in a folder`,
  );
  assert.is(
    await refusal(() => createApp(join(folder, "!!"), "train")),
    'no package can be called "!!"\n  name the folder by letters, digits and -',
  );
  assert.is(readFileSync(file, "utf8"), "mine");
  rmSync(file);
  // A repository that was only begun is empty.
  assert.ok((await createApp(used, "train")).includes("package.json"));
});

test.run();
