/** Elements from calls. Everything that is shown goes in as text; nothing is ever parsed as markup. */

type Child = Node | string | number | undefined | false;
type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const svgNamespace = "http://www.w3.org/2000/svg";

function filled<E extends Element>(element: E, attributes: Attributes, children: Child[]): E {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false)
      element.setAttribute(name, value === true ? "" : String(value));
  for (const child of children)
    if (child !== undefined && child !== false)
      element.append(typeof child === "object" ? child : String(child));
  return element;
}

export const h = <K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] => filled(document.createElement(tag), attributes, children);

export const svg = <K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] =>
  filled(document.createElementNS(svgNamespace, tag), attributes, children);

/** A table with a head; cells are texts or elements, and columns of `numbers` stand to the right. */
export function table(
  head: readonly string[],
  rows: readonly (readonly Child[])[],
  numbers: readonly number[] = [],
): HTMLTableElement {
  const style = (i: number) => (numbers.includes(i) ? { class: "number" } : {});
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head.map((text, i) => h("th", style(i), text)))),
    h(
      "tbody",
      {},
      ...rows.map((row) => h("tr", {}, ...row.map((cell, i) => h("td", style(i), cell)))),
    ),
  );
}

export const link = (hash: string, text: string): HTMLAnchorElement =>
  h("a", { href: `#${hash}` }, text);
