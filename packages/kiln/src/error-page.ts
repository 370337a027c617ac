/**
 * Where the page of errors says more about one. Nothing of it is in an error: a page that does not
 * ask downloads none of it.
 */
import { anchorOf, errorHeading } from "@kiln-ml/ir/error-heading";
import { KilnError } from "@kiln-ml/ir/errors";

/** The page as it is in the package; the one place to change once the site has an address. */
const errorsPage = "kiln-ml/errors.md";

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
