/**
 * IDX files: every element type, gzip, and files that lie.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { mnistFromDigits, mnistFromIdx, readIdx } from "@kiln-ml/data";
import { ArtifactError } from "@kiln-ml/ir";
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runs } from "../support/setup.ts";

function idx(type: number, shape: readonly number[], body: Uint8Array): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(4 + 4 * shape.length + body.length);
  file.set([0, 0, type, shape.length]);
  const view = new DataView(file.buffer);
  for (const [i, d] of shape.entries()) view.setUint32(4 + 4 * i, d);
  file.set(body, 4 + 4 * shape.length);
  return file;
}

async function refused(
  file: Uint8Array,
  message: string | RegExp,
  limitBytes = 1000,
): Promise<void> {
  try {
    await readIdx(file, { limitBytes });
  } catch (error) {
    assert.instance(error, ArtifactError);
    if (typeof message === "string") assert.is((error as Error).message, message);
    else assert.match((error as Error).message, message);
    return;
  }
  assert.unreachable("the file was read");
}

const bytes = (...x: number[]): Uint8Array => Uint8Array.from(x);

test("every element type is read, big-endian", async () => {
  const cases: [number, Uint8Array, number[]][] = [
    [8, bytes(1, 255), [1, 255]],
    [9, bytes(1, 255), [1, -1]],
    [11, bytes(1, 2, 255, 255), [258, -1]],
    [12, bytes(0, 0, 1, 2, 255, 255, 255, 255), [258, -1]],
    [13, bytes(0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0), [1, -2]],
    [14, bytes(0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0xc0, 0, 0, 0, 0, 0, 0, 0), [1, -2]],
  ];
  for (const [type, body, expected] of cases) {
    const { shape, data } = await readIdx(idx(type, [2], body));
    assert.equal(shape, [2]);
    assert.equal([...data], expected);
  }
});

test("a file inside a larger buffer, and its gzip, are read alike", async () => {
  const file = idx(8, [2, 3], bytes(1, 2, 3, 4, 5, 6));
  const inside = new Uint8Array(file.length + 7);
  inside.set(file, 5);
  const plain = await readIdx(inside.subarray(5, 5 + file.length));
  assert.equal(plain.shape, [2, 3]);
  assert.equal(plain, await readIdx(new Uint8Array(gzipSync(file))));
  assert.equal(plain, await readIdx(file.buffer));
});

test("files that are none are refused", async () => {
  await refused(bytes(), "idx: not an IDX file: starts with bytes ");
  await refused(bytes(1, 2, 3, 4), "idx: not an IDX file: starts with bytes 1, 2, 3, 4");
  await refused(bytes(0, 0, 7, 1), "idx: unknown element type 7");
  await refused(bytes(0, 0, 8, 2, 0, 0), "idx: header is cut: rank 2 needs 12 bytes, file has 6");
});

test("a length that the header does not give is refused", async () => {
  const file = idx(8, [3], bytes(1, 2, 3));
  await refused(file.subarray(0, 10), "idx: length differs: header says 11 bytes, file has 10");
  await refused(
    idx(8, [2], bytes(1, 2, 3)),
    "idx: length differs: header says 10 bytes, file has 11",
  );
});

test("extents beyond the limit are refused before anything is allocated", async () => {
  await refused(
    idx(8, [4294967295, 4294967295], bytes()),
    /^idx: too large: \[4294967295,4294967295\]/,
  );
  await refused(idx(14, [126], bytes()), "idx: too large: [126] has 1008 bytes, the limit is 1000");
});

test("a gzip that inflates to more than its header says is stopped", async () => {
  const bomb = idx(8, [10], new Uint8Array(50_000_000));
  await refused(
    new Uint8Array(gzipSync(bomb)),
    "idx: length differs: header says 18 bytes, file has more",
  );
});

test("a damaged gzip is refused", async () => {
  const good = new Uint8Array(gzipSync(idx(8, [3], bytes(1, 2, 3))));
  await refused(good.subarray(0, good.length - 6), /^idx: gzip is damaged/);
  await refused(bytes(0x1f, 0x8b, 8, 0, 1, 2), /^idx: gzip is damaged/);
});

test("damage of any kind gives data or an ArtifactError", async () => {
  const file = idx(12, [2, 1], bytes(0, 0, 0, 1, 0, 0, 0, 2));
  await fc.assert(
    fc.asyncProperty(fc.nat(file.length - 1), fc.nat(255), fc.boolean(), async (at, value, zip) => {
      const broken = file.slice();
      broken[at] = value;
      try {
        await readIdx(zip ? new Uint8Array(gzipSync(broken)) : broken, { limitBytes: 1000 });
      } catch (error) {
        assert.instance(error, ArtifactError);
      }
    }),
    { numRuns: runs(60) },
  );
});

const image = (fill: number): Uint8Array => new Uint8Array(784).fill(fill);

test("MNIST files become images from 0 to 1 and labels", async () => {
  const images = idx(8, [2, 28, 28], Uint8Array.from([...image(255), ...image(51)]));
  const digits = await mnistFromIdx(images, idx(8, [2], bytes(7, 0)));
  const [x, y] = await digits.gather([1, 0]);
  assert.equal([x[0], x[784]], [Math.fround(0.2), 1]);
  assert.equal([...y], [0, 7]);
});

test("MNIST files that do not fit each other are refused", async () => {
  const images = idx(8, [1, 28, 28], image(0));
  const attempt = (labels: Uint8Array) =>
    mnistFromIdx(images, labels).then(
      () => "read",
      (e: Error) => e.message,
    );
  assert.is(await attempt(idx(8, [2], bytes(1, 2))), "mnist: labels must be u8[1], got [2]");
  assert.is(await attempt(idx(8, [1], bytes(10))), "mnist: label 10 is not from 0 to 9");
});

test("the digits of the npm package become a data set, digit by digit", async () => {
  const digits = Array.from({ length: 10 }, (_, d) => ({
    data: new Array<number>(784 * (d === 3 ? 2 : 1)).fill(d / 10),
  }));
  const set = await mnistFromDigits(digits);
  assert.is(set.length, 11);
  const [x, y] = await set.gather([4, 10]);
  assert.equal([...y], [3, 9]);
  assert.is(x[0], Math.fround(0.3));
});

test("digit files that do not fit are refused", async () => {
  const message = (p: Promise<unknown>) =>
    p.then(
      () => "read",
      (e: Error) => e.message,
    );
  const good = Array.from({ length: 10 }, () => ({ data: new Array<number>(784).fill(0) }));
  assert.is(
    await message(mnistFromDigits(good.slice(1))),
    "mnist: needs 10 files of digits, got 9",
  );
  const short = good.with(2, { data: [0] });
  assert.is(
    await message(mnistFromDigits(short)),
    "mnist: 2.json does not hold images of 784 numbers",
  );
  const loud = good.with(1, { data: new Array<number>(784).fill(2) });
  assert.is(await message(mnistFromDigits(loud)), "mnist: 1.json has 2, must be from 0 to 1");
  assert.match(
    await message(mnistFromDigits("no/such/folder")),
    /^mnist: .*0\.json cannot be read/,
  );
});

test("the JSON digits are the numbers that JSON.parse gives, whatever their form", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-digits-"));
  const forms = ["0", "1", "0.5", "0.00392156862745098", "0.1234567890123456789", "1e-3", "0.0"];
  try {
    for (let d = 0; d < 10; d++) {
      // Digit 5 is of the form that is scanned only, others have numbers that are not.
      const own = d === 5 ? forms.slice(0, 4) : forms;
      const list = Array.from({ length: 784 }, (_, i) => own[(i * 5 + d) % own.length]);
      writeFileSync(join(folder, `${d}.json`), `{ "data": [${list.join(d % 2 ? "," : " , ")}] }\n`);
    }
    const set = await mnistFromDigits(folder);
    const [x] = await set.gather(Array.from({ length: 10 }, (_, i) => i));
    for (let d = 0; d < 10; d++) {
      const { data } = JSON.parse(readFileSync(join(folder, `${d}.json`), "utf8"));
      assert.equal(x.subarray(d * 784, (d + 1) * 784), Float32Array.from(data));
    }
    for (const text of ["[01]", "[.5]", "[1.]", "[1,]", "[,1]", "[1 2]", "[-]", "[1"]) {
      writeFileSync(join(folder, "0.json"), `{ "data": ${text} }`);
      let caught: unknown;
      await mnistFromDigits(folder).catch((e: unknown) => {
        caught = e;
      });
      assert.instance(caught, ArtifactError, text);
      assert.match((caught as Error).message, /0\.json cannot be read: .*JSON/, text);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
