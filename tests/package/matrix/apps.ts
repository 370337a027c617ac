/**
 * Projects as users have them, from the packed tarballs: those that `create-kiln-app` writes, and a
 * script at the edge; `next.ts` has that of Next. Tools are installed, pinned, into a folder of the system's temporary files
 * when they are first asked for: below no `node_modules`, since tools treat what lies there as a
 * dependency.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installInto } from "../../../bench/cpu/install.ts";
import { withPage } from "../../support/browser.ts";
import type { Project } from "../install.ts";
import { written } from "./bundlers.ts";

export const tools = join(tmpdir(), "kiln-apps");

const versions: Readonly<Record<string, string>> = {
  "@types/node": "20.19.43",
  miniflare: "4.20260730.0",
  next: "16.4.6",
  react: "19.3.1",
  "react-dom": "19.3.1",
  tsx: "4.23.15",
  typescript: "5.9.3",
  vite: "8.4.0",
};

/** A folder of projects that find the tools above them and the tarballs beside them. */
export interface Apps {
  readonly folder: string;
  npm(app: string, ...args: string[]): string;
  start(app: string, args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess;
}

export function openApps(project: Project): Apps {
  installInto(tools, versions);
  const folder = join(tools, `work-${process.pid}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(project.folder, "node_modules"), join(folder, "node_modules"), {
    recursive: true,
    verbatimSymlinks: true,
  });
  const npmCli = process.env.npm_execpath;
  const [command, first] = npmCli?.endsWith(".js") ? [process.execPath, [npmCli]] : ["npm", []];
  // Whoever runs the matrix may develop from source; a user does not.
  const { NODE_OPTIONS: _, ...own } = process.env;
  const env = { ...own, NEXT_TELEMETRY_DISABLED: "1" };
  return {
    folder,
    npm: (app, ...args) =>
      execFileSync(command!, [...first!, ...args], {
        cwd: join(folder, app),
        env,
        encoding: "utf8",
        stdio: "pipe",
      }),
    start: (app, args, more) =>
      spawn(command!, [...first!, ...args], {
        cwd: join(folder, app),
        env: { ...env, ...more },
        stdio: ["ignore", "pipe", "pipe"],
        // Its own group, so that what npm starts ends with it.
        detached: true,
      }),
  };
}

type Files = Readonly<Record<string, Uint8Array>>;

function create(apps: Apps, template: string): void {
  const cli = join(apps.folder, "node_modules/create-kiln-app/dist/cli.js");
  execFileSync(process.execPath, [cli, template, "--template", template], { cwd: apps.folder });
  apps.npm(template, "run", "check");
}

/** What the page of these files says in `#state` once it is done, and the errors it logs. */
async function inBrowser(files: Files): Promise<string> {
  return withPage({ files }, async (page, { errors }) => {
    await page.waitForFunction(() => {
      const said = document.querySelector("#state")?.textContent ?? "";
      return / on |^on |Error/.test(said);
    });
    const said = await page.textContent("#state");
    return [said, ...errors].join(" | ");
  });
}

/** A project that `create-kiln-app` wrote: its types checked, built and run. */
export async function template(apps: Apps, name: string): Promise<string> {
  create(apps, name);
  if (name === "train") return apps.npm(name, "start", "--silent").trim().split("\n").at(-1)!;
  if (name === "server") {
    const port = await freePort();
    return served(apps.start(name, ["start", "--silent"], { PORT: String(port) }), port, (url) =>
      fetch(url, { method: "POST", body: '{ "x": [[0.5, 0.5], [0, 1]] }' }),
    );
  }
  apps.npm(name, "run", "build");
  return inBrowser(written(join(apps.folder, name, "dist")));
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

/** Whether it answers at all, whatever it says. */
const isUp = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(30_000) }).then(
    () => true,
    () => false,
  );

/** What a server answers once it is up, asked once; ends it. */
export async function served(
  child: ChildProcess,
  port: number,
  ask: (url: string) => Promise<Response>,
): Promise<string> {
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (text) => {
      log += text;
    });
  try {
    const url = `http://127.0.0.1:${port}/`;
    for (let tries = 0; tries < 240 && child.exitCode === null; tries++) {
      if (await isUp(url)) return await (await ask(url)).text();
      await new Promise((done) => setTimeout(done, 250));
    }
    return `no answer: ${log}`;
  } finally {
    if (child.pid !== undefined) process.kill(-child.pid);
  }
}

const edgeScript = `import { decodeArtifact } from "kiln-ml/artifact";
import { createCpuDevice, createWasmDevice, initialStates, load } from "kiln-ml/runtime";
import kernelsText from "./kernels.js.bin";
import jsManifest from "./js-manifest.bin";
import wasmManifest from "./wasm-manifest.bin";
import module from "./kernels.wasm";
import * as kernels from "./js/kernels.js";
async function run(files, device, how, options) {
  const artifact = decodeArtifact(new Map(files.map(([n, b]) => [n, new Uint8Array(b)])), options);
  const program = await load(artifact, device, { states: initialStates(artifact, device), ...how });
  const [y] = await program.run([Float32Array.of(1, 2, 3)]);
  return [...(await y.data())].join();
}
export default {
  async fetch() {
    try {
      const script = [["manifest.json", jsManifest], ["kernels.js", kernelsText]];
      const js = await run(script, createCpuDevice(), { kernels });
      const device = createWasmDevice({ threads: 1 });
      const wasm = await run([["manifest.json", wasmManifest]], device, { module }, { modules: false });
      return new Response("js " + js + "; wasm " + wasm);
    } catch (error) {
      return new Response(String(error.stack));
    }
  },
};
`;

const edgeRunner = `import { readFileSync } from "node:fs";
import { Miniflare } from "miniflare";
const part = (type, path, from) => ({ type, path, contents: readFileSync(from) });
const edge = new Miniflare({
  compatibilityDate: "2026-07-01",
  modules: [
    part("ESModule", "worker.mjs", "worker.mjs"),
    part("CompiledWasm", "kernels.wasm", "wasm/kernels.wasm"),
    part("Data", "kernels.js.bin", "js/kernels.js"),
    part("Data", "js-manifest.bin", "js/manifest.json"),
    part("Data", "wasm-manifest.bin", "wasm/manifest.json"),
  ],
});
const answer = await edge.dispatchFetch("http://localhost/");
console.log(await answer.text());
await edge.dispose();
`;

/**
 * A script of workerd: kernels as modules, of JavaScript and of WebAssembly, and no code of text or
 * bytes.
 */
export async function workerd(apps: Apps, models: string): Promise<string> {
  const folder = join(apps.folder, "workerd");
  cpSync(models, folder, { recursive: true });
  for (const [path, text] of [
    ["worker.js", edgeScript],
    ["run.mjs", edgeRunner],
    ["package.json", '{ "private": true, "type": "module", "scripts": { "run": "node run.mjs" } }'],
  ] as const)
    writeFileSync(join(folder, path), text);
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: folder,
    entryPoints: ["worker.js"],
    outfile: join(folder, "worker.mjs"),
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    external: ["*.bin", "*.wasm"],
    logLevel: "silent",
  });
  return apps.npm("workerd", "run", "--silent", "run").trim();
}
