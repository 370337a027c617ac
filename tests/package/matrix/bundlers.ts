/**
 * Bundlers as a user has them: each turns entries of a project into files of a page, or of Node.
 * Installed, pinned, when the matrix is first asked for, into the cache of node_modules: none is
 * needed to develop.
 */
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { installInto } from "../../../bench/cpu/install.ts";

export const bundlerFolder = resolve("node_modules/.cache/kiln-bundlers");

const versions: Readonly<Record<string, string>> = {
  "@rollup/plugin-node-resolve": "16.0.3",
  "@rollup/plugin-commonjs": "29.0.2",
  rollup: "4.68.8",
  vite: "8.4.0",
  webpack: "5.113.0",
};

export const installBundlers = (): void => installInto(bundlerFolder, versions);

/** A package of the cache, imported as an application's build would. */
async function tool<T>(name: string): Promise<T> {
  const path = createRequire(join(bundlerFolder, "package.json")).resolve(name);
  return (await import(pathToFileURL(path).href)) as T;
}

export interface Job {
  /** The project's folder. */
  readonly folder: string;
  /** Files of it by the name of what is made of them. */
  readonly entries: Readonly<Record<string, string>>;
  readonly out: string;
  readonly for: "page" | "node";
}

export interface Bundler {
  readonly name: string;
  /** It follows `new URL("./worker.js", import.meta.url)`; for others the page names its worker. */
  readonly followsWorkers: boolean;
  /** Writes ES modules; returns what it warned of. */
  bundle(job: Job): Promise<string[]>;
}

const esbuild: Bundler = {
  name: "esbuild",
  followsWorkers: false,
  async bundle({ folder, entries, out, for: where }) {
    const { build } = await import("esbuild");
    const { warnings } = await build({
      absWorkingDir: folder,
      entryPoints: { ...entries },
      outdir: out,
      bundle: true,
      splitting: true,
      minify: true,
      format: "esm",
      platform: where === "page" ? "browser" : "node",
      target: "es2022",
      logLevel: "silent",
    });
    return warnings.map((w) => w.text);
  },
};

interface Warning {
  /** The module it is about. */
  readonly id?: string;
  readonly message: string;
}

const rollup: Bundler = {
  name: "rollup",
  followsWorkers: false,
  async bundle({ folder, entries, out, for: where }) {
    type Module = typeof import("./rollup-types.ts");
    const { rollup: start } = await tool<Module["rollup"]>("rollup");
    const resolver = await tool<Module["resolver"]>("@rollup/plugin-node-resolve");
    const commonjs = await tool<Module["resolver"]>("@rollup/plugin-commonjs");
    const warnings: string[] = [];
    const bundle = await start({
      input: Object.fromEntries(
        Object.entries(entries).map(([name, path]) => [name, join(folder, path)]),
      ),
      external: /^node:/,
      plugins: [resolver.default({ browser: where === "page" }), commonjs.default()],
      // What it says of the packages of others is theirs to mend.
      onwarn: ({ id = "kiln-ml", message }: Warning) => {
        if (/kiln-ml/.test(id)) warnings.push(message);
      },
    });
    await bundle.write({ dir: out, format: "es", chunkFileNames: "chunk-[hash].js" });
    await bundle.close();
    return warnings;
  },
};

/** How long its own plugins take is the machine's load, and no fault of what is bundled. */
const untimed = { checks: { pluginTimings: false } };

const vite: Bundler = {
  name: "vite",
  followsWorkers: true,
  async bundle({ folder, entries, out, for: where }) {
    type Module = typeof import("./rollup-types.ts");
    const { build } = await tool<Module["vite"]>("vite");
    const warnings: string[] = [];
    const warn = (text: string): void => void warnings.push(text);
    const logger = {
      info() {},
      warn,
      warnOnce: warn,
      error: warn,
      clearScreen() {},
      hasWarned: false,
      hasErrorLogged: () => false,
    };
    await build({
      root: folder,
      configFile: false,
      customLogger: logger,
      logLevel: "silent",
      worker: { format: "es", rollupOptions: untimed },
      ...(where === "node" ? { ssr: { noExternal: true } } : {}),
      build: {
        outDir: out,
        emptyOutDir: true,
        target: "es2022",
        ...(where === "node" ? { ssr: true } : {}),
        reportCompressedSize: false,
        chunkSizeWarningLimit: 5000,
        rollupOptions: {
          ...untimed,
          input: Object.fromEntries(
            Object.entries(entries).map(([name, path]) => [name, join(folder, path)]),
          ),
          output: { entryFileNames: "[name].js", chunkFileNames: "chunk-[hash].js" },
          preserveEntrySignatures: "allow-extension",
        },
      },
    });
    return warnings;
  },
};

const webpack: Bundler = {
  name: "webpack",
  followsWorkers: true,
  async bundle({ folder, entries, out, for: where }) {
    type Module = typeof import("./rollup-types.ts");
    const { default: start } = await tool<Module["webpack"]>("webpack");
    const compiler = start({
      context: folder,
      mode: "production",
      devtool: false,
      entry: Object.fromEntries(Object.entries(entries).map(([n, path]) => [n, `./${path}`])),
      target: where === "page" ? ["web", "es2022"] : "node20",
      experiments: { outputModule: true },
      output: { path: out, module: true, filename: "[name].js", publicPath: "auto" },
      performance: { hints: false },
    });
    const stats = await new Promise<Module["stats"]>((done, fail) =>
      compiler.run((error, result) => (error ? fail(error) : done(result))),
    );
    await new Promise<void>((done) => compiler.close(() => done()));
    const { errors, warnings } = stats.toJson({ errors: true, warnings: true });
    if (errors.length) throw new Error(errors.map((e) => e.message).join("\n"));
    return warnings.map((w) => w.message);
  },
};

export const bundlers: readonly Bundler[] = [esbuild, vite, rollup, webpack];

/** What a bundler wrote, by path from the page's root. */
export function written(out: string): Record<string, Uint8Array> {
  return Object.fromEntries(
    readdirSync(out, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(out.length).replaceAll("\\", "/"), readFileSync(path)];
      }),
  );
}
