/** Whatever bytes arrive, decoding ends, and ends in an artifact or an ArtifactError. */
import fc from "fast-check";
import { test } from "uvu";
import * as assert from "uvu/assert";
import {
  decodeArtifact,
  encodeArtifact,
  packArtifact,
  packFiles,
  unpackArtifact,
  unpackFiles,
} from "../../packages/artifact/src/index.ts";
import { runs } from "../support/setup.ts";
import { forge, isRefused, refusal, sample, wasmSample } from "./sample.ts";

const packed = packArtifact(sample);
const samples = [sample, wasmSample];

for (const a of samples) {
  const bytes = packArtifact(a);

  test(`every byte of an archive for ${a.target} matters: any flip is refused`, () => {
    for (let i = 0; i < bytes.length; i++)
      for (const mask of [1 << (i % 8), 0xff])
        assert.ok(
          isRefused(() => unpackArtifact(bytes.with(i, bytes[i]! ^ mask))),
          `byte ${i}`,
        );
  });

  test(`an archive for ${a.target} cut at any length is refused`, () => {
    for (let n = 0; n < bytes.length; n++)
      assert.ok(
        isRefused(() => unpackArtifact(bytes.subarray(0, n))),
        `length ${n}`,
      );
  });
}

test("a byte too many is refused", () => {
  const longer = new Uint8Array(packed.length + 1);
  longer.set(packed);
  assert.is(
    refusal(() => unpackArtifact(longer)),
    `archive: offset ${packed.length}: bytes after the end`,
  );
});

test("every file of a folder, cut or flipped anywhere, is refused", () => {
  const all = samples
    .map(encodeArtifact)
    .flatMap((files) => [...files].map((f) => [files, ...f] as const));
  for (const [files, name, bytes] of all) {
    const decode = (b: Uint8Array) => decodeArtifact(new Map(files).set(name, b));
    for (let i = 0; i < bytes.length; i += 3) {
      assert.ok(
        isRefused(() => decode(bytes.with(i, bytes[i]! ^ 4))),
        `${name} byte ${i}`,
      );
      assert.ok(
        isRefused(() => decode(bytes.subarray(0, i))),
        `${name} length ${i}`,
      );
    }
  }
});

test("arbitrary bytes are refused", () => {
  const magic = packed.slice(0, 40);
  const bytes = fc.tuple(fc.boolean(), fc.uint8Array({ maxLength: 300 }));
  fc.assert(
    fc.property(bytes, ([headed, tail]) => {
      const all = headed ? new Uint8Array([...magic, ...tail]) : tail;
      assert.ok(isRefused(() => unpackArtifact(all)));
      assert.ok(isRefused(() => decodeArtifact(new Map([["manifest.json", tail]]))));
    }),
    { numRuns: runs(300) },
  );
});

/** Paths of all values in a manifest. */
function paths(value: unknown, at: string[] = []): string[][] {
  if (typeof value !== "object" || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([k, v]) => paths(v, [...at, k]))];
}

test("any value at any place of a sealed manifest is accepted or refused", () => {
  const places = samples.flatMap((a) => {
    let found: string[][] = [];
    forge((m) => {
      found = paths(m).slice(1);
    }, a);
    return found.map((path) => [a, path] as const);
  });
  const odd = fc.oneof(
    fc.constantFrom<unknown>(-1, 0.5, 1e300, 2 ** 53, "__proto__", "../x", "", [], {}, null, true),
    fc.constantFrom<unknown>(["/", 1, 0], ["*", "N", -1], ["+", 2 ** 53, 1], "N", "toString"),
    fc.jsonValue(),
  );
  fc.assert(
    fc.property(fc.constantFrom(...places), odd, ([a, path], value) => {
      const files = forge((m) => {
        let at = m as Record<string, unknown>;
        for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
        at[path.at(-1)!] = value;
      }, a);
      isRefused(() => decodeArtifact(files));
    }),
    { numRuns: runs(1200) },
  );
});

test("archives by other hands are refused, with the offset", () => {
  const files = new Map([["a.txt", new Uint8Array([1, 2, 3])]]);
  const bytes = packFiles(files);
  assert.equal(unpackFiles(bytes), files);
  assert.is(
    refusal(() => unpackFiles(bytes.with(8, 8))),
    "archive: offset 8: not the header of a.txt that packArtifact writes",
  );
  const size = bytes.with(18, 200).with(22, 200);
  assert.is(
    refusal(() => unpackFiles(size)),
    "archive: offset 64: a.txt has 200 bytes, the archive 76 more",
  );
});

test("names that leave the folder are refused in both directions", () => {
  for (const name of ["../x", "/x", "a/b/c/d", "a\\b", ".x", "", "a/", "a//b", "C:x"]) {
    const files = new Map([[name, new Uint8Array(1)]]);
    assert.is(
      refusal(() => packFiles(files)),
      `packFiles: ${JSON.stringify(name)} is not a file name`,
    );
  }
  const bytes = packFiles(new Map([["aaax", new Uint8Array(1)]]));
  const up = [46, 46, 47].reduce((b, c, i) => b.with(30 + i, c), bytes);
  assert.is(
    refusal(() => unpackFiles(up)),
    'archive: offset 30: "../x" is not a file name, stands twice, or is one too many',
  );
});

test.run();
