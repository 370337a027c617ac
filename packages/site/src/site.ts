/** All of the site as files by path. */
import { icon } from "./frame.ts";
import { playgroundFiles } from "./playground.ts";
import { siteStyle } from "./style.ts";

export type Files = Readonly<Record<string, string | Uint8Array>>;

export async function siteFiles(root: string): Promise<Files> {
  return {
    "style.css": siteStyle,
    "icon.svg": icon,
    ...(await playgroundFiles(root)),
  };
}
