/**
 * Manifests of the packages against each other and the tree; what an installed package does is
 * `pack.test.ts`'s.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "uvu";
import * as assert from "uvu/assert";

/** The files of an entry; with a variant for pages, the source has one too. */
interface Entry {
  readonly "@kiln-ml/source": string | { readonly browser: string; readonly default: string };
  readonly types: string;
  readonly browser?: string;
  readonly default: string;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly sideEffects?: boolean | readonly string[];
  readonly exports?: Readonly<Record<string, Entry>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const folders = [
  "compiler",
  "runtime",
  ...readdirSync("packages").map((name) => `packages/${name}`),
];
const manifests = folders.map((folder) => ({
  folder,
  ...(JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest),
}));
const published = manifests.filter((m) => !m.private);

test("packages have one version, and ask for each other at it", () => {
  const names = new Set(manifests.map((m) => m.name));
  assert.ok(published.length >= 10, `${published.length} packages`);
  const versions = published.flatMap((m) => [
    m.version,
    ...Object.entries(m.dependencies ?? {}).flatMap(([name, v]) => (names.has(name) ? [v] : [])),
  ]);
  assert.equal([...new Set(versions)].length, 1);
});

const stemOf = (source: string | undefined) =>
  source?.replace(/^\.\/src\//, "").replace(/\.ts$/, "");

test("every entry of a package is a source file, and is built to the path of its name", () => {
  const wrong = published.flatMap(({ folder, name, exports = {} }) =>
    Object.entries(exports).flatMap(
      ([entry, { "@kiln-ml/source": sources, default: built, types, browser }]) => {
        const [source, page] =
          typeof sources === "string" ? [sources] : [sources?.default, sources?.browser];
        const fits =
          built === `./dist/${stemOf(source)}.js` &&
          types === `./dist/${stemOf(source)}.d.ts` &&
          browser === (page && `./dist/${stemOf(page)}.js`);
        const there = [source, page].every((path) => !path || existsSync(join(folder, path)));
        return source && fits && there ? [] : [`${name} ${entry}`];
      },
    ),
  );
  assert.equal(wrong, []);
});

test("files with side effects are there", () => {
  const gone = published.flatMap(({ folder, sideEffects }) =>
    (Array.isArray(sideEffects) ? (sideEffects as readonly string[]) : [])
      .filter((path) => path.startsWith("./src/") && !path.includes("*"))
      .filter((path) => !existsSync(join(folder, path)))
      .map((path) => join(folder, path)),
  );
  assert.equal(gone, []);
});

test.run();
