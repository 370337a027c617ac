/**
 * The site as tests visit it: built once a process, asked for nothing but itself, and pictured where `KILN_PICTURES` names a folder.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import * as assert from "uvu/assert";
import { type Files, siteFiles } from "../../packages/site/src/site.ts";
import { withPage } from "../support/browser.ts";

let built: Promise<Files> | undefined;

export function site(): Promise<Files> {
  built ??= siteFiles(process.cwd());
  return built;
}

/** Opens a page of the site, calls `body`, and holds that no error was logged and nobody else was asked. */
export async function visit(path: string, body: (page: Page) => Promise<void>): Promise<void> {
  const files = Object.fromEntries(
    Object.entries(await site()).map(([name, content]) => [`/${name}`, content]),
  );
  await withPage({ files: { "/index.html": "", ...files } }, async (page, { url, errors }) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.setViewportSize({ width: 1360, height: 820 });
    await page.goto(new URL(path, url).href);
    await body(page);
    assert.equal(errors, []);
    const elsewhere = asked.filter((at) => !/^(blob:|data:)/.test(at) && !at.startsWith(url));
    assert.equal(elsewhere, []);
  });
}

/** A picture of the page, light and dark, for whoever looks at them. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.KILN_PICTURES;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(150);
    await page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`) });
  }
}
