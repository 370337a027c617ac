/** Safetensors of every element type, and one tensor at a time from memory, a Blob, a disk and a server. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ArtifactError, DeviceError } from "@kiln-ml/artifact";
import {
  openSafetensors,
  type RangeSource,
  readSafetensors,
  writeSafetensors,
} from "@kiln-ml/formats";
import { openFile } from "@kiln-ml/formats/node";
import { test } from "uvu";
import * as assert from "uvu/assert";
import { bytesOf, little } from "../fuzz/pickle-text.ts";
import { constant, numbersOf } from "./read.ts";

const tensors = {
  "a.weight": constant("f32", [2, 3], [1, 2, 3, 4, 5, 6]),
  "a.bias": constant("bf16", [2], [-1, 0.5]),
  steps: constant("i32", [], [7]),
};
const bytes = writeSafetensors(tensors, { format: "test" });

function file(
  entries: readonly (readonly [name: string, dtype: string, size: number])[],
  data: Uint8Array,
) {
  let at = 0;
  const header = entries.map(([name, dtype, size]) => {
    at += size;
    return `"${name}":{"dtype":"${dtype}","shape":[2],"data_offsets":[${at - size},${at}]}`;
  });
  const text = `{${header.join(",")}}`;
  return bytesOf(little(text.length, 8), text, data);
}

async function rejection(promise: Promise<unknown>): Promise<Error> {
  return promise.then(
    () => assert.unreachable("nothing was thrown") as never,
    (error: Error) => error,
  );
}

test("integers of 16 and 64 bits become integers of 32", () => {
  const data = bytesOf(little(2 ** 32 - 1, 8), little(0, 8), 0, 128, 255, 127, 255, 255, 1, 0);
  const read = readSafetensors(
    file(
      [
        ["u", "U64", 16],
        ["s", "I16", 4],
        ["t", "U16", 4],
      ],
      data,
    ),
  ).tensors;
  assert.equal(
    Object.values(read).map((t) => [t.dtype, ...numbersOf(t)]),
    [
      ["u32", 2 ** 32 - 1, 0],
      ["i32", -32768, 32767],
      ["i32", 65535, 1],
    ],
  );
});

async function checkSource(from: Parameters<typeof openSafetensors>[0]): Promise<void> {
  const opened = await openSafetensors(from);
  assert.equal(opened.metadata, { format: "test" });
  assert.equal(opened.tensors, [
    { name: "a.weight", stored: "F32", shape: [2, 3], bytes: 24 },
    { name: "steps", stored: "I32", shape: [], bytes: 4 },
    { name: "a.bias", stored: "BF16", shape: [2], bytes: 4 },
  ]);
  for (const [name, t] of Object.entries(tensors)) {
    const read = await opened.read(name);
    assert.equal([read.dtype, read.shape, numbersOf(read)], [t.dtype, t.shape, numbersOf(t)]);
  }
}

test("tensors are read one at a time from bytes and from a Blob", async () => {
  await checkSource(bytes);
  await checkSource(new Blob([bytes as Uint8Array<ArrayBuffer>]));
});

test("a source is asked for the header and the tensors that are read, and for nothing else", async () => {
  const asked: [number, number][] = [];
  const source: RangeSource = {
    name: "counted",
    size: bytes.length,
    async read(start, end) {
      asked.push([start, end]);
      return bytes.slice(start, end);
    },
  };
  const opened = await openSafetensors(source);
  await opened.read("steps");
  const start = bytes.length - 32;
  assert.equal(asked, [
    [0, 8],
    [8, start],
    [start + 24, start + 28],
  ]);
  assert.is((await rejection(opened.read("no"))).message, 'counted: there is no tensor "no"');
});

test("element types that Kiln lacks are listed, and refused when they are read", async () => {
  const data = bytesOf(1, 2, 0, 0, 0, 0, 0, 0, 128, 63);
  const opened = await openSafetensors(
    file(
      [
        ["h", "F8_E5M2", 2],
        ["f", "F32", 8],
      ],
      data,
    ),
  );
  assert.equal(
    opened.tensors.map((t) => t.stored),
    ["F8_E5M2", "F32"],
  );
  assert.equal(numbersOf(await opened.read("f")), [0, 1]);
  const error = await rejection(opened.read("h"));
  assert.instance(error, ArtifactError);
  assert.match(
    error.message,
    /^bytes: offset \d+: tensor "h" is F8_E5M2, which Kiln does not have$/,
  );
});

test("a file of a disk is read by range", async () => {
  const folder = mkdtempSync(join(tmpdir(), "kiln-formats-"));
  const path = join(folder, "w.safetensors");
  writeFileSync(path, bytes);
  const source = await openFile(path);
  try {
    await checkSource(source);
    assert.match(
      (await rejection(source.read(0, bytes.length + 1))).message,
      /offset \d+: the file has become shorter$/,
    );
  } finally {
    await source.close();
    rmSync(folder, { recursive: true });
  }
  assert.match((await rejection(openFile(path))).message, /cannot be opened: ENOENT/);
});

async function withServer(
  answer: RequestListener,
  body: (url: URL) => Promise<void>,
): Promise<void> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/w.safetensors`));
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Answers ranges of the file; `edit` may spoil the answer. */
const ranges =
  (edit: (part: Uint8Array) => Uint8Array = (part) => part): RequestListener =>
  (request, response) => {
    const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    const part = bytes.subarray(Number(start), Number(end) + 1);
    response.writeHead(206, { "Content-Range": `bytes ${start}-${end}/${bytes.length}` });
    response.end(edit(part));
  };

test("a URL is read by HTTP ranges", () => withServer(ranges(), (url) => checkSource(url)));

test("a server that sends other ranges than asked for is refused", () =>
  withServer(
    ranges((part) => bytesOf(part, 0)),
    async (url) => {
      const error = await rejection(openSafetensors(url));
      assert.instance(error, ArtifactError);
      assert.match(error.message, /: more than the 8 bytes of a range were sent$/);
    },
  ));

test("a server without ranges is refused, and one that fails is told", async () => {
  await withServer(
    (_, response) => response.end(bytes),
    async (url) => {
      const { message } = await rejection(openSafetensors(url));
      assert.match(message, /does not answer ranges\n {2}fetch the file whole and pass its bytes$/);
    },
  );
  await withServer(
    (_, response) => response.writeHead(404).end(),
    async (url) => {
      const error = await rejection(openSafetensors(url));
      assert.instance(error, DeviceError);
      assert.match(error.message, /the server answers 404$/);
    },
  );
});

test.run();
