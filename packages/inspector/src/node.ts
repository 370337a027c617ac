/** Makes pages of inspections, for Node: scripts are files of the built package, or bundled where it runs from source. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { frameHtml, htmlOf } from "./html.ts";
import type { Inspection } from "./schema.ts";
import { style } from "./style.ts";

/** The whole page as the text of one HTML file, which needs nothing else and asks nobody for anything. */
export async function inspectionPage(inspection: Inspection): Promise<string> {
  return htmlOf(inspection, await scriptOf("page"));
}

/** Files of a frame by name: `inspector.html` and what it loads. */
export type InspectionFrame = Readonly<
  Record<"inspector.html" | "inspector.js" | "inspector.css", string>
>;

/**
 * A frame that shows the inspection which the page around it posts, for pages that have none before they run. It posts
 * `{ waits: "kiln-inspector" }` when it is there, and takes `{ inspection, theme? }`. Runs under a policy of `'self'`.
 */
export async function inspectionFrame(): Promise<InspectionFrame> {
  const script = await scriptOf("frame");
  return { "inspector.html": frameHtml, "inspector.js": script, "inspector.css": style };
}

type Script = "page" | "frame";
const scripts = new Map<Script, Promise<string>>();

function scriptOf(name: Script): Promise<string> {
  const known = scripts.get(name) ?? readScript(name);
  scripts.set(name, known);
  return known;
}

const entries = { page: "main", frame: "frame" } as const satisfies Record<Script, string>;

async function readScript(name: Script): Promise<string> {
  const here = import.meta.url;
  if (!here.endsWith(".ts")) return readFile(new URL(`./${name}.js`, here), "utf8");
  const { bundlePage } = await import("./bundle-page.ts");
  return bundlePage(fileURLToPath(new URL(`./page/${entries[name]}.ts`, here)));
}
