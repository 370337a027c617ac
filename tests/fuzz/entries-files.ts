/**
 * Artifacts with several entries as fuzzed files: packed, with a value of the manifest, of a
 * program's manifest or a byte of a shard damaged, and every checksum above it made anew, so that
 * what lies behind the checksums is reached.
 */

import { crc32Text } from "../../packages/artifact/src/crc32.ts";
import { decodeEntries, encodeEntries } from "../../packages/artifact/src/entries-index.ts";
import { packFiles, unpackFiles } from "../../packages/artifact/src/index.ts";
import { printManifest } from "../../packages/artifact/src/manifest.ts";
import { sample, wasmSample } from "../artifact/sample.ts";
import type { Random } from "../support/mutate.ts";
import type { FuzzReader } from "./readers.ts";

type Json = Record<string, unknown>;

const files = (): Map<string, Uint8Array> => {
  const programs = [sample, wasmSample].map((a) => ({ ...a, weights: {} }));
  const { states } = sample.signature;
  return encodeEntries(
    {
      version: 1,
      name: "both",
      states,
      entries: { one: programs, two: programs },
      weights: { ...sample.weights, runs: "zeros" },
    },
    { shardBytes: 8 },
  );
};

/** Numbers that are no counts, names that are none, and extents of unknown symbols. */
const odd = [
  ...[-1, 0.5, 1e300, 2 ** 53, 0, 1, "__proto__", "../x", "", "zeros", [], {}, null, true],
  ["*", "N", -1],
  ["/", 1, 0],
];

/** One value somewhere in it, in the place of another. */
export function damageValue(value: unknown, random: Random): void {
  let at = value as Json;
  for (;;) {
    const keys = Object.keys(at);
    const key = keys[Math.floor(random() * keys.length)];
    if (key === undefined) return;
    const inside = at[key];
    if (typeof inside === "object" && inside !== null && random() < 0.8) {
      at = inside as Json;
      continue;
    }
    at[key] = odd[Math.floor(random() * odd.length)];
    return;
  }
}

const parsed = (bytes: Uint8Array): Json => JSON.parse(new TextDecoder().decode(bytes));

function sealed(manifest: Json): Uint8Array {
  delete manifest.crc32;
  return printManifest(manifest);
}

const within: FuzzReader["within"] = (_, damage, random) => {
  const all = files();
  const top = parsed(all.get("manifest.json")!) as {
    entries: { name: string; programs: { target: string; bytes: number; crc32: string }[] }[];
    shards: { name: string; bytes: number; crc32: string }[];
  };
  const kind = random();
  const relist = (row: { bytes: number; crc32: string }, bytes: Uint8Array): void => {
    row.bytes = bytes.length;
    row.crc32 = crc32Text(bytes);
  };
  if (kind < 0.4) damageValue(top, random);
  else if (kind < 0.7) {
    const entry = top.entries[Math.floor(random() * top.entries.length)]!;
    const row = entry.programs[Math.floor(random() * entry.programs.length)]!;
    const name = `${entry.name}.${row.target}/manifest.json`;
    const manifest = parsed(all.get(name)!);
    damageValue(manifest, random);
    all.set(name, sealed(manifest));
    relist(row, all.get(name)!);
  } else {
    const row = top.shards[Math.floor(random() * top.shards.length)]!;
    all.set(row.name, damage(all.get(row.name)!));
    relist(row, all.get(row.name)!);
  }
  return packFiles(all.set("manifest.json", sealed(top as unknown as Json)));
};

export const entriesReader: FuzzReader = {
  name: "entries",
  read: (bytes) => decodeEntries(unpackFiles(bytes)),
  files: () => [packFiles(files())],
  within,
  refusal: /^[\w./-]+: \S/,
};
