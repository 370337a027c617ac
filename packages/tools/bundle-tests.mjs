// Bundles test files for Node: our packages from source, third-party packages left as imports.
// Runs before the tests, after the install; does not type-check.

import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

/** `packages: "external"` would leave out our own packages too, so this says it by name. */
const thirdPartyExternal = {
  name: "third-party-external",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, kind }) => {
      if (kind === "entry-point" || path.startsWith("@kiln-ml/")) return null;
      return /^kiln-ml(\/|$)/.test(path) ? null : { path, external: true };
    });
  },
};

/** A bundled module moves, so `import.meta.url` and `.dirname` are replaced by the place of its source. */
const ownPlace = {
  name: "own-place",
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.")) return null;
      const contents = text
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)));
      return { contents, loader: "ts" };
    });
  },
};

/** Bundles `entries` (paths relative to root) into `out`; returns the bundled files' paths in the same order. */
export async function bundleTests(root, out, entries) {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: out,
    outbase: root,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@kiln-ml/source"],
    sourcemap: true,
    logLevel: "warning",
    plugins: [thirdPartyExternal, ownPlace],
  });
  return entries.map((entry) =>
    join(out, relative(root, join(root, entry)).replace(/\.ts$/, ".mjs")),
  );
}
