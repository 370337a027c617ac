/** The page's script as one text, by esbuild: when the package is built, and each time where it runs from source. */
import { build } from "esbuild";

/** `entry` is the path of `page/main.ts`. */
export async function bundlePage(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: "iife",
    platform: "browser",
    target: "es2022",
    legalComments: "inline",
    conditions: ["@kiln-ml/source"],
    logLevel: "error",
  });
  return outputFiles[0]!.text;
}
