/**
 * Markdown of the repository as pages: anchors as GitHub spells them, links to other pages as those
 * of the site.
 */
import MarkdownIt from "markdown-it";
import { highlighted } from "./highlight.ts";

export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly id: string;
}

export interface Document {
  readonly html: string;
  readonly title: string;
  /** The first paragraph, without marks. */
  readonly summary: string;
  readonly headings: readonly Heading[];
}

/**
 * Where a link to a file leads: a path from the page, or undefined for what the site does not have.
 */
export type Resolve = (path: string) => string | undefined;

/** The anchor of a heading: words in lower case, joined by hyphens; a repeated one is numbered. */
function slug(text: string, seen: Map<string, number>): string {
  const base = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replace(/\s/g, "-");
  const count = seen.get(base) ?? 0;
  seen.set(base, count + 1);
  return count ? `${base}-${count}` : base;
}

/** A number and its unit stay on one line: narrow columns would part them. */
const beforeUnit = /(\d) (?=(?:%|[kMG]?B|[mµn]?s|px)(?![\w]))/g;

export function documentOf(text: string, resolve: Resolve): Document {
  const md = new MarkdownIt({ html: false, highlight: (code, name) => highlighted(code, name) });
  const tokens = md.parse(text.replace(/<!--[\s\S]*?-->/g, ""), {});
  const headings: Heading[] = [];
  const seen = new Map<string, number>();
  tokens.forEach((token, i) => {
    if (token.type === "heading_open") {
      const inner = tokens[i + 1]!.content.replace(/[`*]/g, "");
      const id = slug(inner, seen);
      token.attrSet("id", id);
      headings.push({ level: Number(token.tag.slice(1)), text: inner, id });
    }
    for (const child of token.children ?? []) {
      link(child, resolve);
      if (child.type === "text") child.content = child.content.replace(beforeUnit, "$1\u00a0");
    }
  });
  md.renderer.rules.table_open = () => '<div class="table"><table>';
  md.renderer.rules.table_close = () => "</table></div>";
  const first = tokens.findIndex((t) => t.type === "paragraph_open");
  return {
    html: md.renderer.render(tokens, md.options, {}),
    title: headings[0]?.text ?? "",
    summary: (tokens[first + 1]?.content ?? "").replace(/[`*[\]]|\([^)]*\)/g, "").slice(0, 200),
    headings,
  };
}

type Token = ReturnType<InstanceType<typeof MarkdownIt>["parse"]>[number];

/** Links and pictures are the site's; those to files that it does not have become plain text. */
function link(token: Token, resolve: Resolve): void {
  const name = token.type === "link_open" ? "href" : token.type === "image" ? "src" : undefined;
  const to = name && String(token.attrGet(name) ?? "");
  if (!to || /^[a-z]+:|^#/i.test(to)) return;
  const [path, anchor] = to.split("#") as [string, string | undefined];
  const found = resolve(path);
  if (found !== undefined) token.attrSet(name, anchor ? `${found}#${anchor}` : found);
  else {
    token.attrs = [
      ["class", "file"],
      ["title", path],
    ];
  }
}
