/**
 * `npm run check:packages`: the packed tarballs under each bundler, in a page with a strict policy,
 * with a worker, and on a server; in Next, at the edge, and in each template of `create-kiln-app`.
 * One line a combination; fails if one does not compute what it should, warns, or logs an error.
 * `-- vite page` runs those that match.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { resultOf, withPage } from "../../support/browser.ts";
import { installedProject, type Project } from "../install.ts";
import { openApps, template, workerd } from "./apps.ts";
import { type Bundler, bundlers, installBundlers, written } from "./bundlers.ts";
import { type NextSays, nextApp } from "./next.ts";

const page = `import { compile } from "kiln-ml";
import { openModel } from "kiln-ml/model";
async function main() {
  const f = compile((x) => x.mul(2).sum(), { target: "wasm" });
  const compiled = await (await f([1, 2, 3])).item();
  const opened = [];
  for (const url of ["/js/", "/wasm.kiln"]) {
    const model = await openModel(url);
    const { result } = await model.run({ x: Float32Array.of(1, 2, 3) });
    opened.push(model.target + " " + [...result.data].join());
  }
  return [compiled, ...opened].join("; ");
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));
`;
const pageSays = "12; js 2,4,6; wasm 2,4,6";

const inWorker = (worker: string): string => `import { openModel } from "kiln-ml/model";
async function main() {
  const model = await openModel("/wasm.kiln", { worker: ${worker} });
  const { result } = await model.run({ x: Float32Array.of(1, 2, 3) });
  await model.dispose();
  return [...result.data].join();
}
globalThis.result = main().catch((error) => String(error?.stack ?? error));
`;

const server = `import { compile } from "kiln-ml";
const f = compile((x) => x.mul(2).sum(), { target: "js" });
console.log(await (await f([1, 2, 3])).item());
`;

/** Everything of the page's own, and WebAssembly; no text becomes code. */
const strict = {
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; worker-src 'self'",
};

const html = (module: string): string =>
  `<!doctype html><meta charset="utf-8"><script type="module" src="/${module}"></script>`;

interface Outcome {
  readonly said: string;
  readonly wanted: string;
  readonly warnings: readonly string[];
  readonly bytes: number;
}

type Files = Readonly<Record<string, Uint8Array>>;

async function inPage(
  files: Files,
  models: Files,
  warnings: readonly string[],
  wanted: string,
): Promise<Outcome> {
  const all = { ...files, ...models, "/index.html": html("main.js") };
  return withPage({ files: all, headers: { "*": strict } }, async (tab, { errors }) => {
    const said = String(await resultOf(tab));
    const scripts = Object.entries(files).filter(([path]) => /\.m?js$/.test(path));
    const bytes = scripts.reduce((n, [, text]) => n + gzipSync(text).length, 0);
    return { said, wanted, warnings: [...warnings, ...errors], bytes };
  });
}

async function cell(
  { name, followsWorkers, bundle }: Bundler,
  kind: string,
  project: Project,
  models: Files,
): Promise<Outcome> {
  const out = join(project.folder, "built", `${name}-${kind}`);
  mkdirSync(out, { recursive: true });
  const job = { folder: project.folder, out };
  if (kind === "server") {
    project.write("server.js", server);
    const warnings = await bundle({ ...job, entries: { server: "server.js" }, for: "node" });
    project.write("built/package.json", '{ "type": "module" }');
    return { said: project.node(join(out, "server.js")).trim(), wanted: "12", warnings, bytes: 0 };
  }
  const isWorker = kind === "worker";
  project.write("page.js", isWorker ? inWorker(followsWorkers ? "true" : '"/worker.js"') : page);
  project.write("worker.js", 'import "kiln-ml/model-worker";\n');
  const own = isWorker && !followsWorkers;
  const entries = { main: "page.js", ...(own ? { worker: "worker.js" } : {}) };
  const warnings = await bundle({ ...job, entries, for: "page" });
  return inPage(written(out), models, warnings, isWorker ? "2,4,6" : pageSays);
}

/** The artifacts, as the installed command makes them. */
function modelsOf(project: Project): Files {
  project.write(
    "model.js",
    'export const model = { fn: (x) => ({ result: x.mul(2) }), inputs: [{ shape: ["N"], name: "x" }] };\n',
  );
  mkdirSync(join(project.folder, "models"));
  const kiln = join("node_modules", "kiln-ml", "dist", "cli.js");
  project.node(kiln, "compile", "model.js", "-o", "models/js", "--target", "js");
  project.node(kiln, "compile", "model.js", "-o", "models/wasm.kiln", "--target", "wasm");
  project.node(kiln, "compile", "model.js", "-o", "models/wasm", "--target", "wasm");
  return written(join(project.folder, "models"));
}

interface Combination {
  readonly name: string;
  readonly kind: string;
  run(): Promise<Outcome>;
}

const plain = (said: string, wanted: string | RegExp): Outcome => {
  const right = typeof wanted === "string" ? said === wanted : wanted.test(said);
  return { said, wanted: right ? said : String(wanted), warnings: [], bytes: 0 };
};

/**
 * What each template says when it has run; of the page the targets and the times are the machine's.
 */
const templates: Readonly<Record<string, RegExp>> = {
  train: /wrote spirals\.kiln/,
  page: /^16384 points on wasm in [\d.]+ ms$/,
  onnx: /^on \w+ in [\d.]+ ms$/,
  server: /^\{"y":\[\[[-\d.e]+\],\[[-\d.e]+\]\]\}$/,
};

const wanted = process.argv.slice(2);
const project = once(installedProject);
const models = once(() => modelsOf(project()));
const modelFolder = (): string => {
  models();
  return join(project().folder, "models");
};
const apps = once(() => openApps(project()));

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Of one build by each of Next's bundlers. */
function nextCombinations(bundler: string): Combination[] {
  const app = once(() => nextApp(apps(), modelFolder(), bundler));
  const wanted = { page: pageSays, worker: "2,4,6", server: "12", edge: "2,4,6" };
  return Object.entries(wanted).map(([kind, says]) => ({
    name: `next/${bundler}`,
    kind,
    run: async () => {
      const { warnings, ...said } = await app();
      return {
        said: said[kind as keyof Omit<NextSays, "warnings">],
        wanted: says,
        warnings,
        bytes: 0,
      };
    },
  }));
}

const combinations: readonly Combination[] = [
  ...bundlers.flatMap((bundler) =>
    ["page", "worker", "server"].map((kind) => ({
      name: bundler.name,
      kind,
      run: async () => {
        installBundlers();
        return cell(bundler, kind, project(), models());
      },
    })),
  ),
  ...["webpack", "turbopack"].flatMap(nextCombinations),
  {
    name: "workerd",
    kind: "edge",
    run: async () => plain(await workerd(apps(), modelFolder()), "js 2,4,6; wasm 2,4,6"),
  },
  ...Object.entries(templates).map(([kind, says]) => ({
    name: "create",
    kind,
    run: async () => plain(await template(apps(), kind), says),
  })),
];

/** The message of an error, with what a command that failed printed. */
function told(error: Error & { readonly stdout?: string; readonly stderr?: string }): string {
  const printed = [error.stdout, error.stderr].map((text) => text?.trim().slice(-600));
  return [error.message, ...printed].filter(Boolean).join(" | ").replaceAll("\n", " ");
}

let failed = 0;
for (const { name, kind, run } of combinations) {
  if (!wanted.every((word) => `${name} ${kind}`.includes(word))) continue;
  const started = performance.now();
  const outcome = await run().catch(
    (error: Error): Outcome => ({ said: told(error), wanted: "", warnings: [], bytes: 0 }),
  );
  const { said, warnings, bytes } = outcome;
  const right = said === outcome.wanted;
  const ok = right && warnings.length === 0;
  if (!ok) failed += 1;
  const size = bytes ? `${(bytes / 1000).toFixed(0)} kB gzip`.padStart(12) : "".padStart(12);
  const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`.padStart(7);
  const why = ok ? "" : `  ${[...(right ? [] : [said]), ...warnings].join(" | ")}`;
  console.log(
    `${name.padEnd(14)} ${kind.padEnd(9)} ${ok ? "ok  " : "FAIL"}${size}${seconds}${why}`,
  );
}
process.exit(failed ? 1 : 0);
