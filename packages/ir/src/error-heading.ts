/**
 * The headings of the page of errors: docs/errors.md is made of them, and an error finds its part
 * by the same rule. Apart from the classes, as no runtime needs it.
 */

/** What stands before the first colon: an op, a call, an input by its name. */
const subject = /^[a-zA-Z][\w.]*(?: [\w.[\]]+){0,2}(?=: )/;

/**
 * `ShapeError matmul`: the heading under which the page has a message; without a subject the class
 * alone.
 */
export function errorHeading(name: string, message: string): string {
  const [about] = subject.exec(message) ?? [];
  return about ? `${name} ${about}` : name;
}

/** The anchor that a heading gets from GitHub and from the site. */
export const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\w -]/g, "")
    .replaceAll(" ", "-");

/**
 * Whether a message is what a text becomes in which … stands for values; the first lines are
 * compared. A text of few words is that of nothing in particular.
 */
export function isOf(message: string, template: string): boolean {
  const [first = ""] = template.split("\n");
  if (first.replace(/[…\W]/g, "").length < 8) return false;
  const parts = first.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join("[^]*")}$`).test(message.split("\n")[0]!);
}
