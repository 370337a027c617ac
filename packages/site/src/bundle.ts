/** Scripts of the site by esbuild, in chunks that its entries share. */
import { relative, resolve } from "node:path";
import { build } from "esbuild";

interface Bundling {
  /** The folder of what entries share. */
  readonly chunks: string;
  readonly define?: Readonly<Record<string, string>>;
}

/** Texts by path. `entries` are files of the repository by the path they get, without `.js`. */
export async function scripts(
  root: string,
  entries: Readonly<Record<string, string>>,
  { chunks, define = {} }: Bundling,
): Promise<Record<string, string>> {
  const out = resolve(root, "out/site");
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { ...entries },
    outdir: out,
    chunkNames: `${chunks}/[name]-[hash]`,
    bundle: true,
    splitting: true,
    minify: true,
    // Names of classes are in errors and in printed modules.
    keepNames: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["@kiln-ml/source"],
    external: ["node:*", "webgpu"],
    define: { ...define },
    legalComments: "none",
    logLevel: "error",
  });
  return Object.fromEntries(
    outputFiles.map(({ path, text }) => [relative(out, path).replaceAll("\\", "/"), text]),
  );
}
