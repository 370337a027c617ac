/**
 * What a path may hide: links, pipes and devices in place of files, in every reader of disks, and what a signal leaves of a
 * file that is being written.
 */
import { spawn, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ArtifactError } from "@kiln-ml/artifact";
import {
  openFile,
  openInside,
  readArtifact,
  writeArtifact,
  writeFileAtomic,
} from "@kiln-ml/artifact/node";
import { readTuning } from "kiln-ml/node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { openFile as openSource } from "../../packages/formats/src/node.ts";
import { filesBeside, load } from "../../packages/kiln/src/node.ts";
import { sample } from "./sample.ts";

/** A folder `data` that somebody else filled, beside a file that is none of its business. */
async function inFolder(run: (folder: string, secret: string) => unknown): Promise<void> {
  const outer = mkdtempSync(join(tmpdir(), "kiln-links-"));
  const folder = join(outer, "data");
  mkdirSync(folder);
  const secret = join(outer, "secret");
  writeFileSync(secret, "the key");
  try {
    await run(folder, secret);
  } finally {
    rmSync(outer, { recursive: true });
  }
}

async function message(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    assert.instance(error, ArtifactError);
    return (error as Error).message;
  }
  return assert.unreachable("nothing was thrown") as never;
}

const outside =
  "a link leads out of the folder that the file must lie in\n  put the file itself in its place: cp -L copies what links point to";
const irregular = "not a regular file\n  copy what it holds into a file, and name that";

const makePipe = (path: string): void => {
  assert.is(spawnSync("mkfifo", [path]).status, 0);
};

test("a link out of a folder is refused wherever on the way it stands, one inside is followed", () =>
  inFolder(async (folder, secret) => {
    symlinkSync(secret, join(folder, "direct"));
    symlinkSync(join(folder, ".."), join(folder, "up"));
    symlinkSync("direct", join(folder, "twice"));
    mkdirSync(join(folder, "deep"));
    writeFileSync(join(folder, "deep/file"), "data");
    symlinkSync("deep/file", join(folder, "near"));
    for (const name of ["direct", "up/secret", "twice"])
      assert.is(await message(() => openInside(folder, name)), `${name}: ${outside}`);
    const file = openInside(folder, "near")!;
    assert.is(new TextDecoder().decode(await file.read(1, 3)), "at");
    assert.is(new TextDecoder().decode(file.readSync(0, file.size)), "data");
    file.close();
    assert.is(openInside(folder, "nothing"), undefined);
    assert.is(openInside(folder, "near/nothing"), undefined);
    // A folder whose name only begins as that of the other is another.
    mkdirSync(`${folder}2`);
    writeFileSync(`${folder}2/file`, "x");
    assert.is(
      await message(() => openInside(folder, "../data2/file")),
      `../data2/file: ${outside}`,
    );
  }));

test("pipes, devices and folders are refused at once by every reader of files", () =>
  inFolder(async (folder) => {
    const pipe = join(folder, "pipe");
    makePipe(pipe);
    symlinkSync("/dev/zero", join(folder, "zero"));
    const readers: Record<string, (path: string) => unknown> = {
      openFile,
      readArtifact,
      readTuning,
      "a source": openSource,
      "load of weights": (path) => load(path, {} as never),
    };
    for (const [name, read] of Object.entries(readers)) {
      assert.is(await message(() => read(pipe)), `${pipe}: is a pipe, ${irregular}`, name);
      const zero = join(folder, "zero");
      assert.is(await message(() => read(zero)), `${zero}: is a device, ${irregular}`, name);
    }
    assert.is(await message(() => openFile(folder)), `${folder}: is a folder, ${irregular}`);
    assert.is(await message(() => openInside(folder, "pipe")), `pipe: is a pipe, ${irregular}`);
    assert.is(
      await message(() => filesBeside(join(folder, "m.onnx"))("pipe")),
      `pipe: is a pipe, ${irregular}`,
    );
  }));

test("each file of a folder artifact must be a regular one inside of it", () =>
  inFolder(async (folder, secret) => {
    const path = join(folder, "m");
    await writeArtifact(path, sample);
    for (const name of ["manifest.json", "kernels.js", "weights.safetensors"]) {
      const file = join(path, name);
      const bytes = readFileSync(file);
      rmSync(file);
      symlinkSync(secret, file);
      assert.is(await message(() => readArtifact(path)), `${name}: ${outside}`);
      rmSync(file);
      makePipe(file);
      assert.is(await message(() => readArtifact(path)), `${name}: is a pipe, ${irregular}`);
      rmSync(file);
      writeFileSync(file, bytes);
    }
    assert.equal(await readArtifact(path), sample);
  }));

test("a manifest with a hole of a terabyte is refused unread", () =>
  inFolder(async (folder) => {
    const path = join(folder, "m");
    await writeArtifact(path, sample);
    truncateSync(join(path, "manifest.json"), 2 ** 40);
    assert.is(
      await message(() => readArtifact(path)),
      "manifest.json: 1099511627776 bytes, more than 67108864",
    );
  }));

test("a write replaces a link and leaves alone what it points to", () =>
  inFolder(async (folder, secret) => {
    const file = join(folder, "out.kiln");
    symlinkSync(secret, file);
    await writeFileAtomic(file, new Uint8Array([1]));
    assert.is(readFileSync(secret, "utf8"), "the key");
    const real = join(folder, "real");
    await writeArtifact(real, sample);
    symlinkSync("real", join(folder, "link"));
    await writeArtifact(join(folder, "link"), { ...sample, name: "other" });
    assert.equal(await readArtifact(real), sample);
    assert.is((await readArtifact(join(folder, "link"))).name, "other");
    assert.equal(readdirSync(folder).sort(), ["link", "out.kiln", "real"]);
  }));

test("a folder that only has the name of an old artifact is not removed", () =>
  inFolder(async (folder) => {
    const path = join(folder, "m");
    await writeArtifact(path, sample);
    mkdirSync(`${path}.kiln-old`);
    writeFileSync(`${path}.kiln-old/thesis.txt`, "dear");
    assert.is(
      await message(() => writeArtifact(path, sample)),
      `writeArtifact: ${path}.kiln-old exists and is not an artifact\n  write to another path, or move it away`,
    );
    assert.equal(readdirSync(folder).sort(), ["m", "m.kiln-old"]);
  }));

/** Starts a write that does not end, waits for its file, and sends the signal. */
async function interrupted(folder: string, signal: NodeJS.Signals, handler: string) {
  const tsx = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
  const files = pathToFileURL(resolve("packages/artifact/src/files.ts")).href;
  const script = `
    const { removeOnExit, temporaryName } = await import(${JSON.stringify(files)});
    const { writeFileSync } = await import("node:fs");
    ${handler}
    const path = temporaryName(${JSON.stringify(join(folder, "w"))});
    removeOnExit(path);
    writeFileSync(path, "half");
    console.log("begun");
    setInterval(() => {}, 1000);`;
  const args = [
    "--conditions=@kiln-ml/source",
    "--import",
    tsx,
    "--input-type=module",
    "-e",
    script,
  ];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((begun) => child.stdout.once("data", begun));
  assert.is(readdirSync(folder).length, 1);
  assert.not.equal(readdirSync(folder), ["w.tmp"]);
  const ended = new Promise<[number | null, string | null]>((done) =>
    child.once("exit", (code, by) => done([code, by])),
  );
  child.kill(signal);
  return ended;
}

test("a signal ends the process as ever, and unfinished files with it", () =>
  inFolder(async (folder) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      assert.equal(await interrupted(folder, signal, ""), [null, signal]);
      assert.equal(readdirSync(folder), []);
    }
    const handler = 'process.on("SIGINT", () => process.exit(3));';
    assert.equal(await interrupted(folder, "SIGINT", handler), [3, null]);
    assert.equal(readdirSync(folder), []);
  }));

test("a write that is done leaves no listener behind", () =>
  inFolder(async (folder) => {
    const before = process.listenerCount("SIGINT");
    await Promise.all(
      [1, 2, 3].map((n) => writeFileAtomic(join(folder, `${n}`), new Uint8Array([n]))),
    );
    assert.is(process.listenerCount("SIGINT"), before);
    assert.equal(readdirSync(folder).sort(), ["1", "2", "3"]);
    assert.ok(existsSync(join(folder, "1")));
  }));

test.run();
