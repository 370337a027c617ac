/** What is around every page of the site: head, policy, navigation. */

export interface PageOf {
  readonly title: string;
  readonly description: string;
  /** From this page's folder to the site's, such as `../`. */
  readonly root: string;
  /** The entry of the navigation that it belongs to. */
  readonly part?: string;
  readonly body: string;
  /** Classes of the body. */
  readonly kind?: string;
  /** Modules that it loads, relative to the page. */
  readonly scripts?: readonly string[];
}

const parts: readonly (readonly [string, string])[] = [
  ["Guide", "docs/guide.html"],
  ["Reference", "docs/ops.html"],
  ["Recipes", "docs/recipes.html"],
  ["Playground", "playground/index.html"],
  ["Gallery", "gallery/index.html"],
  ["Speed and size", "numbers.html"],
];

/**
 * Nobody but the site itself is asked for anything. Programs of the playground are modules made in the page, whence `blob:`; editors
 * set styles, whence `'unsafe-inline'` for those alone.
 */
export const policy = [
  "default-src 'none'",
  "script-src 'self' blob: 'wasm-unsafe-eval'",
  "worker-src 'self' blob:",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self' blob:",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const mark =
  '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 18V9a7 7 0 0 1 14 0v9h-4v-5a3 3 0 0 0-6 0v5z"/></svg>';

export function framed({
  title,
  description,
  root,
  part,
  body,
  kind,
  scripts = [],
}: PageOf): string {
  const nav = parts.map(
    ([name, path]) =>
      `<a href="${root}${path}"${name === part ? ' aria-current="page"' : ""}>${name}</a>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="description" content="${escaped(description)}">
<title>${escaped(title)}</title>
<link rel="icon" href="${root}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${root}style.css">
</head>
<body${kind ? ` class="${kind}"` : ""}>
<header class="top"><a class="name" href="${root}index.html">${mark}Kiln</a><nav aria-label="site">${nav.join("")}</nav></header>
${body}
${scripts.map((src) => `<script type="module" src="${src}"></script>`).join("\n")}
</body>
</html>
`;
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (c) => entities[c]!);

export const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 20 20"><path fill="#d0672e" d="M3 18V9a7 7 0 0 1 14 0v9h-4v-5a3 3 0 0 0-6 0v5z"/></svg>';
