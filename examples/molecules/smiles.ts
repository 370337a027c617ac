/**
 * Molecules from SMILES: atoms and bonds as a graph. As much of the language as medicines need: brackets, rings, branches, charges, aromatic
 * atoms; stereochemistry and isotopes are read over. Weininger 1988.
 */

export interface Atom {
  readonly symbol: string;
  readonly aromatic: boolean;
  readonly charge: number;
  /** Hydrogens that a bracket names. */
  readonly hydrogens: number;
}

export interface Bond {
  readonly from: number;
  readonly to: number;
  /** 1, 2, 3, or 1.5 where it is aromatic. */
  readonly order: number;
}

const token =
  /\[\d*([A-Z][a-z]?|[a-z]{1,2})@{0,2}(?:H(\d*))?([+-]+\d*)?(?::\d+)?\]|(Cl|Br|[BCNOPSFI]|[bcnops])|([-=#$:/\\])|(%\d\d|\d)|([().])/gy;

const orders: Readonly<Record<string, number>> = { "=": 2, "#": 3, ":": 1.5 };

/** Throws an error with the place for text that is no SMILES. */
export function readSmiles(text: string): { readonly atoms: Atom[]; readonly bonds: Bond[] } {
  const [atoms, bonds] = [[] as Atom[], [] as Bond[]];
  const branches: number[] = [];
  const rings = new Map<string, { readonly atom: number; readonly order: number | undefined }>();
  let last = -1;
  let order: number | undefined;
  const bind = (from: number, to: number, given: number | undefined): void => {
    const both = atoms[from]!.aromatic && atoms[to]!.aromatic;
    bonds.push({ from, to, order: given ?? (both ? 1.5 : 1) });
  };
  token.lastIndex = 0;
  while (token.lastIndex < text.length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (!found) throw new Error(`SMILES ${text}: cannot be read from ${text.slice(at)}`);
    const [, bracketed, hydrogens, charge = "", plain, bond, ring, mark] = found;
    const name = bracketed ?? plain;
    if (name !== undefined) {
      const aromatic = name === name.toLowerCase();
      const symbol = name[0]!.toUpperCase() + name.slice(1);
      const count = hydrogens === undefined ? 0 : Number(hydrogens || 1);
      atoms.push({ symbol, aromatic, charge: chargeOf(charge), hydrogens: count });
      if (last >= 0) bind(last, atoms.length - 1, order);
      [last, order] = [atoms.length - 1, undefined];
    } else if (bond) order = orders[bond] ?? 1;
    else if (ring) {
      const open = rings.get(ring);
      if (open) {
        bind(open.atom, last, order ?? open.order);
        rings.delete(ring);
      } else rings.set(ring, { atom: last, order });
      order = undefined;
    } else if (mark === "(") branches.push(last);
    else last = mark === ")" ? branches.pop()! : -1;
  }
  return { atoms, bonds };
}

/** "+", "++", "-2" as numbers. */
const chargeOf = (text: string): number =>
  text === "" ? 0 : /\d/.test(text) ? Number(text) : (text[0] === "-" ? -1 : 1) * text.length;
