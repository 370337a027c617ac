/** The page around an inspection: one file, which asks nobody for anything. */
import type { Inspection } from "./schema.ts";
import { style } from "./style.ts";

/** Nothing may be fetched, framed or sent; what runs and how it looks stands in the file. */
const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";

/** A document that shows `inspection`, with the page's `script`. No name in it can end the script or begin another. */
export function htmlOf(inspection: Inspection, script: string): string {
  const data = JSON.stringify(inspection)
    .replaceAll("<", "\\u003c")
    .replaceAll("\u2028", "\\u2028")
    .replaceAll("\u2029", "\\u2029");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${escaped(inspection.name)} · Kiln inspector</title>
<style>${style}</style>
</head>
<body>
<script type="application/json" id="inspection">${data}</script>
<script>${script.replaceAll("</script", "<\\/script")}</script>
</body>
</html>
`;
}

/** The page around what is posted to it. */
export const frameHtml = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Kiln inspector</title>
<link rel="stylesheet" href="inspector.css">
</head>
<body>
<script src="inspector.js"></script>
</body>
</html>
`;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => entities[c]!);
