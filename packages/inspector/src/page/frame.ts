/**
 * The script of a frame that is handed its inspection by the page around it, such as a playground: says that it waits, and shows what
 * the first message brings. The page loads the frame again for another.
 */
import { start } from "./page.ts";

addEventListener("message", function show({ data, source }) {
  if (source !== parent || typeof data !== "object" || !data?.inspection) return;
  removeEventListener("message", show);
  if (data.theme) document.documentElement.dataset.theme = data.theme;
  start(data.inspection);
});
parent.postMessage({ waits: "kiln-inspector" }, "*");
