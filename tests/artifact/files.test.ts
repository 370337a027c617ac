/** Artifacts on disk: replaced as a whole or not at all. */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { rm, truncate } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { readArtifact, writeArtifact, writeFileAtomic } from "../../packages/artifact/src/files.ts";
import { ArtifactError } from "../../packages/artifact/src/index.ts";
import { sample } from "./sample.ts";

const inFolder = async (run: (folder: string) => Promise<void>): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-artifact-"));
  try {
    await run(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
};
const rejection = async (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => assert.unreachable("nothing was thrown") as never,
    (error: Error) => error,
  );
const other = { ...sample, name: "other" };

test("a folder and a file are written, read and replaced, leaving nothing beside them", () =>
  inFolder(async (folder) => {
    for (const name of ["model", "model.kiln"]) {
      const path = join(folder, name);
      await writeArtifact(path, sample);
      assert.equal(await readArtifact(path), sample);
      await writeArtifact(path, other);
      assert.equal(await readArtifact(path), other);
    }
    assert.equal(readdirSync(folder).sort(), ["model", "model.kiln"]);
  }));

test("a write that fails leaves the old file and no temporary one", () =>
  inFolder(async (folder) => {
    const path = join(folder, "weights.bin");
    await writeFileAtomic(path, new Uint8Array([1]));
    const broken = new Proxy(new Uint8Array(1), {
      get: () => {
        throw new Error("no space left");
      },
    });
    await rejection(writeFileAtomic(path, broken));
    assert.equal([...readFileSync(path)], [1]);
    assert.equal(readdirSync(folder), ["weights.bin"]);
  }));

test("an artifact that cannot be encoded leaves the old one", () =>
  inFolder(async (folder) => {
    for (const path of [join(folder, "m"), join(folder, "m.kiln")]) {
      await writeArtifact(path, sample);
      const error = await rejection(writeArtifact(path, { ...sample, name: "" }));
      assert.instance(error, ArtifactError);
      assert.equal(await readArtifact(path), sample);
    }
    assert.equal(readdirSync(folder).sort(), ["m", "m.kiln"]);
  }));

test("a process that died between two renames leaves the old artifact readable", () =>
  inFolder(async (folder) => {
    const path = join(folder, "m");
    await writeArtifact(path, sample);
    renameSync(path, `${path}.kiln-old`);
    assert.equal(await readArtifact(path), sample);
    await writeArtifact(path, other);
    assert.equal(await readArtifact(path), other);
    assert.not(existsSync(`${path}.kiln-old`));
  }));

test("a folder that is not an artifact is not replaced", () =>
  inFolder(async (folder) => {
    writeFileSync(join(folder, "thesis.txt"), "dear");
    const error = await rejection(writeArtifact(folder, sample));
    assert.is(
      error.message,
      `writeArtifact: ${folder} exists and is not an artifact\n  write to another path, or move it away`,
    );
    assert.equal(readdirSync(folder), ["thesis.txt"]);
  }));

test("a file of the wrong size is refused before it is read", () =>
  inFolder(async (folder) => {
    const path = join(folder, "m");
    await writeArtifact(path, sample);
    await truncate(join(path, "weights.safetensors"), 2 ** 40);
    const error = await rejection(readArtifact(path));
    assert.match(
      error.message,
      /^weights\.safetensors: 1099511627776 bytes, the manifest says \d+$/,
    );
  }));

test("a path where nothing is, and a folder with a file missing, are refused", () =>
  inFolder(async (folder) => {
    const path = join(folder, "m");
    assert.is(
      (await rejection(readArtifact(path))).message,
      `readArtifact: ${path} does not exist\n  kiln compile model.ts -o PATH writes one`,
    );
    await writeArtifact(path, sample);
    await rm(join(path, "kernels.js"));
    assert.is(
      (await rejection(readArtifact(path))).message,
      "kernels.js: the file is missing\n  copy the whole folder, or compile it again",
    );
  }));

test.run();
