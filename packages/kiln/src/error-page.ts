/**
 * Where the page of errors says more about one. Nothing of it is in an error: a page that does not
 * ask downloads none of it. The headings of docs/errors.md are made of the same names.
 */
import { KilnError } from "@kiln-ml/ir/errors";

/** The page as it is in the package; the one place to change once the site has an address. */
const errorsPage = "kiln-ml/errors.md";

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

/**
 * Where more is said about an error: `kiln-ml/errors.md`, a file of the installed package, with the
 * anchor of its class and op; undefined for what is no error of Kiln. `kiln explain` prints that
 * part. No counterpart in PyTorch.
 *
 * @param error What was caught.
 * @example
 *   let page;
 *   try { ones([2]).add(ones([3])); } catch (error) { page = errorPage(error); }
 *   page // "kiln-ml/errors.md#shapeerror-add"
 */
export function errorPage(error: unknown): string | undefined {
  if (!(error instanceof KilnError)) return undefined;
  return `${errorsPage}#${anchorOf(errorHeading(error.name, error.message))}`;
}
