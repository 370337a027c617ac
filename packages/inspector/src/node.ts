/** Makes the page of an inspection, for Node: the script is a file of the built package, or bundled where it runs from source. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { htmlOf } from "./html.ts";
import type { Inspection } from "./schema.ts";

/** The whole page as the text of one HTML file, which needs nothing else and asks nobody for anything. */
export async function inspectionPage(inspection: Inspection): Promise<string> {
  return htmlOf(inspection, await pageScript());
}

let script: Promise<string> | undefined;

function pageScript(): Promise<string> {
  script ??= readScript();
  return script;
}

async function readScript(): Promise<string> {
  const here = import.meta.url;
  if (!here.endsWith(".ts")) return readFile(new URL("./page.js", here), "utf8");
  const { bundlePage } = await import("./bundle-page.ts");
  return bundlePage(fileURLToPath(new URL("./page/main.ts", here)));
}
