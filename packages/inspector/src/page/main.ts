/** The script of a page that holds its inspection: reads the document that stands in it. */
import { start } from "./page.ts";

start(JSON.parse(document.getElementById("inspection")?.textContent ?? "null"));
