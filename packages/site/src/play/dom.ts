/** Elements in one call. */

type Child = Node | string | undefined;

/** An element with attributes and children; text stays text. */
export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>>,
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children.filter((c) => c !== undefined));
  return element;
}

/** The element of that id. The page is ours, so it is there. */
export const byId = <E extends HTMLElement = HTMLElement>(id: string): E =>
  document.getElementById(id) as E;
