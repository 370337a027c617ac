/**
 * An application of Next from the packed tarballs: a page, a worker, a component that is rendered on
 * the server, and a route at the edge, built once by each of its bundlers and asked from a browser.
 */
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { withPage } from "../../support/browser.ts";
import { type Apps, freePort, served, tools } from "./apps.ts";

const root = JSON.stringify(tools);

/** `#state` says what the page and its worker computed, or why they did not. */
const model = `"use client";
import { useEffect, useState } from "react";

async function run() {
  const { compile } = await import("kiln-ml");
  const { openModel } = await import("kiln-ml/model");
  const f = compile((x) => x.mul(2).sum(), { target: "wasm" });
  const said = [String(await (await f([1, 2, 3])).item())];
  let worker;
  for (const [url, inWorker] of [["/js/", false], ["/wasm.kiln", false], ["/wasm.kiln", true]]) {
    const model = await openModel(url, { worker: inWorker });
    const { result } = await model.run({ x: Float32Array.of(1, 2, 3) });
    const text = [...result.data].join();
    if (inWorker) worker = text;
    else said.push(model.target + " " + text);
    await model.dispose();
  }
  return { page: said.join("; "), worker };
}

export function Model() {
  const [said, set] = useState("");
  useEffect(() => {
    run().then(
      (result) => set(JSON.stringify(result)),
      (error) => set(JSON.stringify({ page: String(error.stack ?? error) })),
    );
  }, []);
  return <p id="state">{said}</p>;
}
`;

/** Waits longer than runs follow one another without a task between them. */
const edge = `import { decodeArtifact } from "kiln-ml/artifact";
import { createCpuDevice, initialStates, load } from "kiln-ml/runtime";
import * as kernels from "../../public/js/kernels.js";
export const runtime = "edge";
export async function GET(request) {
  const files = new Map();
  for (const name of ["manifest.json", "kernels.js"])
    files.set(name, new Uint8Array(await (await fetch(new URL("/js/" + name, request.url))).arrayBuffer()));
  const artifact = decodeArtifact(files);
  const device = createCpuDevice();
  const program = await load(artifact, device, { states: initialStates(artifact, device), kernels });
  await new Promise((done) => setTimeout(done, 40));
  const [y] = await program.run([Float32Array.of(1, 2, 3)]);
  return new Response([...(await y.data())].join());
}
`;

const files: Readonly<Record<string, string>> = {
  "package.json":
    '{ "private": true, "scripts": { "build": "next build", "start": "next start" } }',
  "next.config.mjs": `export default { turbopack: { root: ${root} }, outputFileTracingRoot: ${root} };\n`,
  "app/layout.js":
    'export default ({ children }) => <html lang="en"><head><link rel="icon" href="data:," /></head><body>{children}</body></html>;\n',
  "app/server.js": `import { compile } from "kiln-ml";
const f = compile((x) => x.mul(2).sum(), { target: "js" });
export const summed = async () => (await f([1, 2, 3])).item();
`,
  "app/page.js": `import { Model } from "./model.js";
import { summed } from "./server.js";
export const dynamic = "force-dynamic";
export default async function Page() {
  return <main>server <b id="server">{await summed()}</b> <Model /></main>;
}
`,
  "app/model.js": model,
  "app/edge/route.js": edge,
};

/** What each part of the application said. */
export interface NextSays {
  readonly page: string;
  readonly worker: string;
  readonly server: string;
  readonly edge: string;
  readonly warnings: readonly string[];
}

/** What the build warned of; that the edge is to end, of which it tells, is Next's own affair. */
const warningsOf = (log: string): string[] =>
  log.split("\n").filter((line) => /^⚠|Circular|too dynamic/.test(line) && !/Edge|edge/.test(line));

/** The page in the browser; `errors` are those that it logged. */
const shown = (url: string): Promise<Partial<NextSays> & { readonly errors: readonly string[] }> =>
  withPage({ files: { "/index.html": "" } }, async (page, { errors }) => {
    await page.goto(url);
    await page.waitForFunction(() => document.querySelector("#state")?.textContent);
    return { ...JSON.parse((await page.textContent("#state"))!), errors };
  });

/** Builds the application with "turbopack" or "webpack", serves it and asks for each part. */
export async function nextApp(apps: Apps, models: string, bundler: string): Promise<NextSays> {
  const name = `next-${bundler}`;
  const folder = join(apps.folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  cpSync(models, join(folder, "public"), { recursive: true });
  const log = apps.npm(name, "run", "build", "--", `--${bundler}`);
  const port = await freePort();
  const child = apps.start(name, ["start", "--silent", "--", "-p", String(port)], {});
  const text = await served(child, port, async (url) => {
    const html = await (await fetch(url, { signal: AbortSignal.timeout(60_000) })).text();
    const [, server = html] = /<b id="server">(.*?)<\/b>/.exec(html) ?? [];
    const signal = AbortSignal.timeout(60_000);
    const atEdge = await fetch(`${url}edge`, { signal }).then((r) => r.text(), String);
    const { errors, ...said } = await shown(url);
    const warnings = [...warningsOf(log), ...errors];
    return new Response(JSON.stringify({ worker: "", ...said, server, edge: atEdge, warnings }));
  });
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(text);
  }
}
