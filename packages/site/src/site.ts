/** All of the site as files by path. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { documentFiles } from "./documents.ts";
import { icon } from "./frame.ts";
import { galleryFiles } from "./gallery.ts";
import { landingPage } from "./landing.ts";
import { numbersPage } from "./numbers.ts";
import { playgroundFiles } from "./playground.ts";
import { siteStyle } from "./style.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Pictures of demos, as the tests take them (`KILN_PICTURES`). */
function pictures(root: string): Record<string, Uint8Array> {
  const folder = join(root, "packages/site/pictures");
  return Object.fromEntries(
    readdirSync(folder).map((name) => [`images/${name}`, readFileSync(join(folder, name))]),
  );
}

/** Pages and pictures: all but what scripts are bundled for. */
export const pagesOf = (root: string): Files => ({
  "style.css": siteStyle,
  "icon.svg": icon,
  ...pictures(root),
  "index.html": landingPage(root),
  "numbers.html": numbersPage(root),
  ...documentFiles(root),
});

export async function siteFiles(root: string): Promise<Files> {
  return { ...pagesOf(root), ...(await playgroundFiles(root)), ...(await galleryFiles(root)) };
}
