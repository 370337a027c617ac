/** The documents as pages, with a list of them all at the side and the page's own headings. */
import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { escaped, framed } from "./frame.ts";
import { type Document, documentOf } from "./markdown.ts";

interface Group {
  readonly title: string;
  readonly part: string;
  /** Files under `docs`, without `.md`. */
  readonly names: readonly string[];
}

const groups: readonly Group[] = [
  { title: "Start", part: "Guide", names: ["tasks", "guide", "data", "loading", "formats"] },
  { title: "Recipes", part: "Recipes", names: ["recipes"] },
  {
    title: "Reference",
    part: "Reference",
    names: ["coverage", "ops", "onnx", "errors", "numbers", "glossary"],
  },
  {
    title: "Inside",
    part: "Reference",
    names: [
      "architecture",
      "ir",
      "passes",
      "artifact",
      "stablehlo",
      "many-accelerators",
      "adding-an-op",
      "adding-a-pass",
      "adding-a-target",
    ],
  },
];

/** Names in lists, where the title of a page is too long. */
const short: Readonly<Record<string, string>> = {
  coverage: "Everything people reach for",
  artifact: "Artifact format",
  ir: "The language",
};

/** Files of the site by those of the repository. */
function places(root: string): Map<string, string> {
  const docs = readdirSync(join(root, "docs"), { recursive: true })
    .map((path) => `docs/${String(path).replaceAll("\\", "/")}`)
    .filter((path) => path.endsWith(".md"));
  const pages = [...docs, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"];
  return new Map([
    ...pages.map((path) => [path, pageOf(path)] as const),
    ["docs/images/inspector.png", "images/inspector.png"],
  ]);
}

const pageOf = (path: string): string =>
  path.startsWith("docs/")
    ? path.replace(/\.md$/, ".html")
    : `docs/${path.toLowerCase().replaceAll("/", "-").replace(/\.md$/, ".html")}`;

export function documentFiles(root: string): Record<string, string | Uint8Array> {
  const all = places(root);
  const read = (path: string): Document =>
    documentOf(readFileSync(join(root, path), "utf8"), (to) => {
      const place = all.get(posix.normalize(posix.join(posix.dirname(path), to)));
      return place && posix.relative(posix.dirname(all.get(path)!), place);
    });
  const documents = new Map(
    [...all.keys()].filter((p) => p.endsWith(".md")).map((p) => [p, read(p)]),
  );
  const files: Record<string, string | Uint8Array> = {
    "images/inspector.png": readFileSync(join(root, "docs/images/inspector.png")),
  };
  for (const [path, document] of documents) {
    const place = all.get(path)!;
    files[place] = around(place, document, documents);
  }
  return files;
}

function around(place: string, document: Document, all: ReadonlyMap<string, Document>): string {
  const root = "../".repeat(place.split("/").length - 1);
  const own = place.replace(/^docs\/|\.html$/g, "");
  const group = groups.find(({ names }) => names.includes(own));
  const lists = groups.map(({ title, names }) => {
    const items = names.map((name) => {
      const text = short[name] ?? all.get(`docs/${name}.md`)?.title ?? name;
      const current = name === own ? ' aria-current="page"' : "";
      return `<li><a href="${root}docs/${name}.html"${current}>${escaped(text)}</a></li>`;
    });
    return `<h2>${title}</h2><ul>${items.join("")}</ul>`;
  });
  const contents = document.headings
    .filter(({ level }) => level === 2)
    .map(({ id, text }) => `<li><a href="#${id}">${escaped(text)}</a></li>`);
  const body = `<div class="documents"><nav class="side" aria-label="documents">${lists.join("")}</nav><main class="text">${document.html}</main>${
    contents.length > 2
      ? `<nav class="contents" aria-label="on this page"><h2>On this page</h2><ul>${contents.join("")}</ul></nav>`
      : "<div></div>"
  }</div>`;
  return framed({
    title: `${document.title} · Kiln`,
    description: document.summary || document.title,
    root,
    ...(group ? { part: group.part } : {}),
    kind: "doc",
    body,
  });
}
