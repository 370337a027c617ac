/** The playground as files: its page, its scripts with the whole of Kiln for programs to import, and the inspector's frame. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspectionFrame } from "@kiln-ml/inspector/node";
import { scripts } from "./bundle.ts";
import { framed } from "./frame.ts";
import { namesToComplete } from "./names.ts";

/** Programs that the menu offers: those of the folder `programs`, the first one first. */
const order = ["circle", "picture", "shapes", "rhyme", "gelu"];

export function programs(root: string): Record<string, string> {
  const folder = join(root, "packages/site/programs");
  const there = readdirSync(folder)
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => name.slice(0, -3));
  const place = (name: string): number =>
    (order.indexOf(name) + order.length + 1) % (order.length + 1);
  const sorted = there.sort((a, b) => place(a) - place(b));
  return Object.fromEntries(
    sorted.map((name) => [name, readFileSync(join(folder, `${name}.ts`), "utf8")]),
  );
}

const bar = `<div class="bar">
<select id="programs" aria-label="example"></select>
<select id="target" aria-label="target"><option>wasm</option><option>js</option><option>webgpu</option></select>
<button id="run" class="main" title="Ctrl-Enter">Run</button>
<button id="stop">Stop</button>
<button id="share">Share</button>
<span class="state" id="state" role="status"></span>
<span class="right"><label for="compiled">compiled</label><select id="compiled" disabled></select><button id="profile" disabled title="times every kernel with the last arguments; parameters change">Profile</button></span>
</div>`;

const panes = `<main class="panes">
<section class="left"><div id="editor"></div><div class="said"><div id="console" role="log" tabindex="0"></div><div id="figures"></div></div></section>
<section class="right-pane"><div class="empty"><div><b>The inspector</b>What a function is compiled to, and why, is shown here once it has run.</div></div><iframe id="inspector" title="inspector"></iframe></section>
</main>`;

/** Files by path, from the site's folder. */
export async function playgroundFiles(root: string): Promise<Record<string, string | Uint8Array>> {
  const source = join(root, "packages/site/src");
  // Named like the front door's own folder: sites of nodes are the first frames outside of it.
  const library = "packages/kiln/dist";
  const entries = {
    main: join(source, "play/main.ts"),
    worker: join(source, "play/worker.ts"),
    ...Object.fromEntries(
      ["kiln-ml", "train", "onnx", "model", "playground"].map((name) => [
        `${library}/${name}`,
        join(source, `lib/${name}.ts`),
      ]),
    ),
  };
  const define = {
    PROGRAMS: JSON.stringify(programs(root)),
    NAMES: JSON.stringify(await namesToComplete(root)),
  };
  const made = await scripts(root, entries, { chunks: library, define });
  const page = framed({
    title: "Kiln playground",
    description:
      "Write a program in TypeScript, run it in the page, and see what it is compiled to",
    root: "../",
    part: "Playground",
    kind: "play",
    body: bar + panes,
    scripts: ["main.js"],
  });
  const files = { ...made, ...(await inspectionFrame()), "index.html": page };
  return Object.fromEntries(
    Object.entries(files).map(([path, text]) => [`playground/${path}`, text]),
  );
}
