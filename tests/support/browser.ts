/**
 * Pages in a headless Chromium that has software WebGPU, served from memory on 127.0.0.1 with the headers a test
 * sets by path. One browser serves all tests of a process and closes when idle. Tests never touch the network.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { build } from "esbuild";
import { type Browser, chromium, type Page } from "playwright-core";
import { test } from "uvu";
import { missing } from "./skip.ts";

/** Contents by path ("/index.html" also answers "/"), and headers by path, "*" for all. */
export interface Site {
  readonly files: Readonly<Record<string, string | Uint8Array>>;
  readonly headers?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export interface Visit {
  readonly url: string;
  /** Console errors and uncaught exceptions, in order. */
  readonly errors: string[];
}

/** Headers that make a page cross-origin isolated (SharedArrayBuffer, precise clocks). */
export const isolated = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
} as const;

const folder = process.env.KILN_CHROMIUM;
const idleMs = 1000;
/** What a page or the browser may take on a machine that is busy; the runner ends a file that hangs. */
const patienceMs = 110_000;
const kinds: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".mjs": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

function launch(executable: string): Promise<Browser> {
  return chromium.launch({
    executablePath: executable,
    headless: true,
    timeout: patienceMs,
    args: [
      "--no-sandbox",
      "--enable-unsafe-webgpu",
      "--use-webgpu-adapter=swiftshader",
      "--disable-dev-shm-usage",
    ],
    // NSS and the like, which a bare machine lacks, were unpacked beside the browser.
    env: {
      ...process.env,
      LD_LIBRARY_PATH: `${process.env.LD_LIBRARY_PATH}:${join(executable, "../lib")}`,
    },
  });
}

let browser: Promise<Browser> | undefined;
let visits = 0;
let idle: NodeJS.Timeout | undefined;

/** Closes the browser soon after the last visit, else a test file run by itself would never end. */
function closeWhenIdle(): void {
  idle = setTimeout(() => {
    browser?.then((open) => open.close());
    browser = undefined;
  }, idleMs);
}

async function serve(site: Site): Promise<Server> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://localhost").pathname;
    const name = path === "/" ? "/index.html" : path;
    const body = site.files[name];
    const headers = { ...site.headers?.["*"], ...site.headers?.[name] };
    const type = kinds[extname(name)] ?? "application/octet-stream";
    // Browsers ask for an icon by themselves; a 404 would show up as a console error.
    const status = body !== undefined ? 200 : name === "/favicon.ico" ? 204 : 404;
    response.writeHead(status, { "Content-Type": type, ...headers }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** Serves the site, opens "/" in a new page, calls `body` and closes both. */
export async function withPage<T>(
  site: Site,
  body: (page: Page, visit: Visit) => Promise<T>,
): Promise<T> {
  if (folder === undefined) throw new Error("no browser: run it through npm test");
  clearTimeout(idle);
  visits += 1;
  browser ??= launch(join(folder, "chromium"));
  const server = await serve(site);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const context = await (await browser).newContext();
  context.setDefaultTimeout(patienceMs);
  try {
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(url);
    return await body(page, { url, errors });
  } finally {
    await context.close();
    server.closeAllConnections();
    server.close();
    visits -= 1;
    if (visits === 0) closeWhenIdle();
  }
}

/** The entry file (or the text of a module, with its imports seen from the root) as one module for a page. */
export async function bundleForPage(
  entry: string | { readonly text: string },
  options: {
    readonly minify?: boolean;
    /** Packages in the place of others. */
    readonly alias?: Readonly<Record<string, string>>;
  } = {},
): Promise<string> {
  const source =
    typeof entry === "string"
      ? { entryPoints: [entry] }
      : { stdin: { contents: entry.text, resolveDir: process.cwd(), loader: "ts" as const } };
  const result = await build({
    ...source,
    bundle: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["@kiln-ml/source"],
    minify: options.minify ?? false,
    ...(options.alias ? { alias: { ...options.alias } } : {}),
    logLevel: "error",
  });
  return result.outputFiles[0]?.text ?? "";
}

/** A site of one page whose module script is `text`. */
export function pageOf(text: string, headers?: Readonly<Record<string, string>>): Site {
  const html =
    '<!doctype html><meta charset="utf-8"><script type="module" src="/main.js"></script>';
  const files = { "/index.html": html, "/main.js": text };
  return headers === undefined ? { files } : { files, headers: { "*": headers } };
}

/** What the page's own script leaves in `globalThis.result`, once it is set and has settled. */
export async function resultOf(page: Page): Promise<unknown> {
  await page.waitForFunction(() => "result" in globalThis);
  return page.evaluate(() => (globalThis as unknown as { result: unknown }).result);
}

/** Registers a test that needs the browser; without one it skips, or fails in CI. */
export function browserTest(name: string, body: () => Promise<void>): void {
  if (folder === undefined) missing(name, "no browser for this platform, or not run by npm test");
  else test(name, body);
}
