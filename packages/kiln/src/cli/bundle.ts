/**
 * TypeScript by way of esbuild: the script and the files it imports by path become one ES module, packages stay imports.
 * Works on Node 20 and in projects of either module system.
 */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { BuildFailure, OnLoadResult, Plugin } from "esbuild";
import { PlainError, short } from "./failure.ts";
import { resolveFrom, scratchFile } from "./place.ts";

type Esbuild = typeof import("esbuild");

/** esbuild as the script's project or ours has it. */
export async function findEsbuild(script: string): Promise<Esbuild | undefined> {
  const path = resolveFrom(script, "esbuild");
  try {
    return path ? await import(pathToFileURL(path).href) : await import("esbuild");
  } catch {
    return undefined;
  }
}

/** The exports of a script. Throws PlainError for a syntax error. */
export async function importBundled(
  esbuild: Esbuild,
  script: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { path: outfile, done } = scratchFile(script, "script.mjs");
  try {
    await esbuild.build({
      entryPoints: [script],
      outfile,
      bundle: true,
      packages: "external",
      format: "esm",
      platform: "node",
      target: `node${process.versions.node}`,
      sourcemap: "inline",
      sourcesContent: false,
      logLevel: "silent",
      plugins: [places, ownPackages(script)],
    });
    process.setSourceMapsEnabled(true);
    return await import(pathToFileURL(outfile).href);
  } catch (error) {
    throw isBuildFailure(error) ? new PlainError(describe(error)) : error;
  } finally {
    done();
  }
}

/** `file.js:3:5: what is wrong` of a script or a file that it imports by path; undefined if there is nothing. Runs nothing. */
export async function syntaxError(esbuild: Esbuild, script: string): Promise<string | undefined> {
  const how = { bundle: true, packages: "external", write: false, logLevel: "silent" } as const;
  try {
    await esbuild.build({ entryPoints: [script], format: "esm", platform: "node", ...how });
  } catch (error) {
    if (isBuildFailure(error)) return describe(error);
  }
  return undefined;
}

/** In a bundle a file would look for its data beside the bundle. */
const places: Plugin = {
  name: "places",
  setup(build) {
    build.onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path }): Promise<OnLoadResult> => {
      const known = { url: pathToFileURL(path).href, dirname: dirname(path), filename: path };
      const text = await readFile(path, "utf8");
      const contents = text.replace(
        /\bimport\.meta\.(url|dirname|filename)\b/g,
        (_, what: keyof typeof known) => JSON.stringify(known[what]),
      );
      const loader = /\.[cm]?ts$/.test(path) ? "ts" : path.endsWith(".tsx") ? "tsx" : "jsx";
      return { contents, loader, resolveDir: dirname(path) };
    });
  },
};

/** A script outside of any project uses the packages that belong to this command. */
const ownPackages = (script: string): Plugin => ({
  name: "own-packages",
  setup(build) {
    build.onResolve({ filter: /^(kiln-ml|@kiln-ml\/.*)$/ }, ({ path }) => {
      if (resolveFrom(script, path)) return { path, external: true };
      return { path: import.meta.resolve(path), external: true };
    });
  },
});

const isBuildFailure = (error: unknown): error is BuildFailure =>
  error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);

function describe({ errors }: BuildFailure): string {
  const { text, location } = errors[0] ?? { text: "esbuild failed", location: null };
  if (!location) return text;
  return `${short(resolve(location.file))}:${location.line}:${location.column + 1}: ${text}`;
}
