/** Pictures: what decoders give for every kind of PNG and for JPEG, resizing, folders of classes, and files that are broken. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import {
  cropImage,
  DataLoader,
  decodeImage,
  encodePng,
  type Picture,
  resizeImage,
} from "@kiln-ml/data";
import { imageFolder } from "@kiln-ml/data/node";
import { ArtifactError } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { dataTest } from "../support/data.ts";

const folder = mkdtempSync(join(tmpdir(), "kiln-images-"));
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));

function chunk(type: string, body: Uint8Array): Uint8Array {
  const out = Buffer.alloc(12 + body.length);
  out.writeUInt32BE(body.length);
  out.write(type, 4, "latin1");
  out.set(body, 8);
  out.writeUInt32BE(checksum(out.subarray(4, 8 + body.length)), 8 + body.length);
  return out;
}

/** Bit by bit, as Node 20 has none before 20.15. */
function checksum(bytes: Uint8Array): number {
  if (typeof crc32 === "function") return crc32(bytes);
  let c = ~0;
  for (const byte of bytes) {
    c ^= byte;
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  }
  return ~c >>> 0;
}

/** A PNG of raw rows; `colour` is the colour type of its header. */
function png(
  [height, width]: readonly [number, number],
  colour: number,
  depth: number,
  rows: readonly (readonly number[])[],
  palette?: readonly number[],
): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width);
  head.writeUInt32BE(height, 4);
  head.set([depth, colour, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]),
    chunk("IHDR", head),
    ...(palette ? [chunk("PLTE", Uint8Array.from(palette))] : []),
    chunk("IDAT", deflateSync(Uint8Array.from(rows.flatMap((row) => [0, ...row])))),
    chunk("IEND", new Uint8Array(0)),
  ]);
}

test("every kind of PNG becomes bytes of the channels that are asked for", async () => {
  const kinds = [
    { file: png([1, 2], 0, 8, [[10, 200]]), 1: [10, 200], 3: [10, 10, 10, 200, 200, 200] },
    { file: png([1, 2], 0, 16, [[10, 99, 200, 0]]), 1: [10, 200] },
    { file: png([2, 3], 0, 1, [[0b10100000], [0b01000000]]), 1: [255, 0, 255, 0, 255, 0] },
    { file: png([1, 2], 0, 4, [[0x3f]]), 1: [51, 255] },
    { file: png([1, 1], 2, 8, [[255, 0, 0]]), 1: [76], 3: [255, 0, 0], 4: [255, 0, 0, 255] },
    { file: png([1, 1], 6, 8, [[1, 2, 3, 4]]), 3: [1, 2, 3], 4: [1, 2, 3, 4] },
    { file: png([1, 1], 4, 8, [[9, 7]]), 1: [9], 4: [9, 9, 9, 7] },
    { file: png([1, 2], 3, 8, [[1, 0]], [1, 2, 3, 4, 5, 6]), 3: [4, 5, 6, 1, 2, 3] },
  ];
  for (const { file, ...expected } of kinds)
    for (const [channels, bytes] of Object.entries(expected)) {
      const picture = await decodeImage(file, { channels: Number(channels) as 1 | 3 | 4 });
      assert.equal([...picture.data], bytes);
      assert.is(picture.shape[2], Number(channels));
    }
});

const picture = (shape: Picture["shape"], ...data: number[]): Picture => ({
  data: Uint8Array.from(data),
  shape,
});

test("resizing takes weights that reach as far as a pixel of the result", () => {
  // (¾·0 + ¾·100 + ¼·200)/1¾ and (¼·100 + ¾·200 + ¾·40)/1¾.
  assert.equal([...resizeImage(picture([1, 4, 1], 0, 100, 200, 40), 1, 2).data], [71, 117]);
  assert.equal([...resizeImage(picture([1, 2, 1], 0, 100), 1, 4).data], [0, 25, 75, 100]);
  const flat = picture([3, 5, 3], ...new Array<number>(45).fill(77));
  for (const [h, w] of [
    [2, 2],
    [7, 1],
    [3, 9],
  ] as const)
    assert.ok(resizeImage(flat, h, w).data.every((v) => v === 77));
});

test("a crop is the middle", () => {
  assert.equal(cropImage(picture([1, 4, 1], 1, 2, 3, 4), 1, 2).data, Uint8Array.of(2, 3));
  assert.equal(cropImage(picture([3, 1, 2], 1, 2, 3, 4, 5, 6), 1, 9).data, Uint8Array.of(3, 4));
});

function write(root: string, name: string, file: Uint8Array): void {
  mkdirSync(join(root, name, ".."), { recursive: true });
  writeFileSync(join(root, name), file);
}

async function refused(call: () => Promise<unknown>, text: string | RegExp): Promise<void> {
  let caught: unknown;
  await call().catch((error: unknown) => {
    caught = error;
  });
  assert.instance(caught, ArtifactError, String(caught));
  if (typeof text === "string") assert.is((caught as Error).message, text);
  else assert.match((caught as Error).message, text);
}

test("a folder of folders is a data set, and a picture that does not fit is named", async () => {
  const root = join(folder, "ok");
  write(root, "cat/a.png", png([1, 2], 0, 8, [[1, 2]]));
  write(root, "dog/b.PNG", png([1, 2], 0, 8, [[3, 4]]));
  write(
    root,
    "dog/c.png",
    png([2, 2], 0, 8, [
      [5, 6],
      [5, 6],
    ]),
  );
  write(root, "dog/notes.txt", Uint8Array.of(1));
  const set = await imageFolder(root, { channels: 1 });
  assert.equal([set.classes, set.length, set.shapes], [["cat", "dog"], 3, [[1, 2, 1], []]]);
  const [x, y] = await set.gather([1, 0]);
  assert.equal(
    [[...x], [...y]],
    [
      [3, 4, 1, 2],
      [1, 0],
    ],
  );
  await refused(
    async () => {
      for await (const _ of new DataLoader(set, { batch: 3 }));
    },
    `${join(root, "dog/c.png")}: is 2 × 2, the first picture 1 × 2\n  pass a size that all are brought to`,
  );
  const sized = await imageFolder(root, { channels: 1, size: [1, 2] });
  assert.equal([...(await sized.gather([2]))[0]], [5, 6]);
  const cropped = await imageFolder(root, { channels: 1, size: 1, fit: "crop" });
  assert.equal(cropped.shapes[0], [1, 1, 1]);
});

test("a broken picture, an unknown class and a folder without pictures are named", async () => {
  const root = join(folder, "broken");
  const good = png([1, 2], 0, 8, [[1, 2]]);
  write(root, "cat/a.png", good);
  write(root, "cat/b.png", good.subarray(0, 40));
  write(root, "cat/c.jpg", Uint8Array.of(0xff, 0xd8, 0xff, 0));
  write(root, "cat/d.png", new TextEncoder().encode("<html>"));
  const set = await imageFolder(root, { channels: 1 });
  const path = (name: string) => join(root, "cat", name).replace(/[.\\]/g, "\\$&");
  await refused(
    async () => set.gather([1]),
    new RegExp(`^${path("b.png")}: PNG cannot be decoded: .`),
  );
  await refused(
    async () => set.gather([2]),
    new RegExp(`^${path("c.jpg")}: JPEG cannot be decoded: .`),
  );
  await refused(
    async () => set.gather([3]),
    `${join(root, "cat/d.png")}: is neither PNG nor JPEG: starts with bytes 60, 104, 116, 109`,
  );
  await refused(
    () => imageFolder(root, { classes: ["dog"] }),
    `imageFolder: ${join(root, "cat")}: class cat is not among dog`,
  );
  mkdirSync(join(root, "empty"));
  await refused(
    () => imageFolder(root),
    `imageFolder: ${join(root, "empty")}: the folder has no file that ends in .png, .jpg, .jpeg`,
  );
  await refused(
    () => imageFolder(join(root, "none")),
    /^imageFolder: .*none: cannot be read: ENOENT/,
  );
});

test("a picture of more pixels than the limit is refused before it is decoded", async () => {
  const huge = png([60_000, 60_000], 0, 8, [[1]]);
  await refused(
    () => decodeImage(huge, { name: "huge.png" }),
    "huge.png: PNG cannot be decoded: 60000 × 60000 pixels are more than 100 million",
  );
});

dataTest("membranes and their labels are read", "isbi-membrane", async (root) => {
  const train = join(root, "zhixuhao+unet/data/membrane/train");
  const set = await imageFolder(train, { channels: 1, size: 128 });
  assert.equal([set.classes, set.length], [["image", "label"], 60]);
  const [x, y] = await set.gather([0, 59]);
  assert.equal([...y], [0, 1]);
  // A label is black or white but where it was made smaller; most of a membrane's picture is white.
  const label = x.subarray(128 * 128);
  assert.ok(label.filter((v) => v > 250).length > 0.5 * label.length);
});

dataTest("photographs in JPEG are read", "cifar10-jpg-subset", async (root) => {
  const photos = join(folder, "cifar");
  mkdirSync(photos);
  execFileSync("tar", ["xf", join(root, "cifar10-jpg-subset.tar"), "-C", photos]);
  const set = await imageFolder(join(photos, "test"));
  assert.equal([set.classes.length, set.length, set.shapes[0]], [10, 1000, [32, 32, 3]]);
  let [sum, n] = [0, 0];
  for await (const [x] of new DataLoader(set, { batch: 200 })) {
    for (const v of x) sum += v;
    n += x.length;
  }
  // The mean of CIFAR-10's pixels is 0.473.
  assert.ok(Math.abs(sum / n / 255 - 0.473) < 0.02, `${sum / n / 255}`);
});

test("a PNG that was written is read back to the byte, grey, coloured and with alpha", async () => {
  for (const channels of [1, 3, 4] as const) {
    const data = Uint8Array.from({ length: 6 * channels }, (_, i) => (37 * i) % 256);
    const picture: Picture = { data, shape: [2, 3, channels] };
    assert.equal(await decodeImage(await encodePng(picture), { channels }), picture);
  }
});

test("a picture that cannot be written is refused with both sizes", async () => {
  const refusals = [
    [
      { data: new Uint8Array(5), shape: [2, 3, 1] },
      "encodePng: a picture of [2,3,1] has 6 bytes, got 5",
    ],
    [
      { data: new Uint8Array(12), shape: [2, 3, 2] },
      "encodePng: a picture of 2 channels cannot be written, must be 1, 3 or 4",
    ],
  ] as const;
  for (const [picture, message] of refusals) {
    const error = await encodePng(picture as never).catch((e: Error) => e);
    assert.is((error as Error).message, message);
  }
});

test.run();
