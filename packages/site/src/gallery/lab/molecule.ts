/**
 * Molecules as graphs: SMILES read, made-up ones built, and their polar surface by a table.
 * Brackets, rings, branches, charges and aromatic atoms are read; stereochemistry and isotopes are
 * read over. Weininger 1988; Ertl, Rohde and Selzer 2000.
 */

export interface Atom {
  readonly symbol: string;
  readonly aromatic: boolean;
  readonly charge: number;
  /** Hydrogens that a bracket names; others follow from valences. */
  readonly hydrogens?: number;
}

export interface Bond {
  readonly from: number;
  readonly to: number;
  /** 1, 2, 3, or 1.5 where it is aromatic. */
  readonly order: number;
}

export interface Molecule {
  readonly atoms: readonly Atom[];
  readonly bonds: readonly Bond[];
}

/** The most atoms, hydrogens aside, that the network has room for. */
export const mostAtoms = 28;

const valences: Readonly<Record<string, number>> = { B: 3, C: 4, N: 3, O: 2, P: 3, S: 2 };

const token =
  /\[\d*([A-Z][a-z]?|[a-z]{1,2})@{0,2}(?:H(\d*))?([+-]+\d*)?(?::\d+)?\]|(Cl|Br|[BCNOPSFI]|[bcnops])|([-=#:/\\])|(%\d\d|\d)|([().])/gy;
const orders: Readonly<Record<string, number>> = { "=": 2, "#": 3, ":": 1.5 };

class Reader {
  readonly atoms: Atom[] = [];
  readonly bonds: Bond[] = [];
  readonly #branches: number[] = [];
  readonly #rings = new Map<string, { atom: number; order: number | undefined }>();
  #last = -1;
  #order: number | undefined;

  atom(atom: Atom): void {
    this.atoms.push(atom);
    const at = this.atoms.length - 1;
    if (this.#last >= 0) this.#bind(this.#last, at, this.#order);
    this.#last = at;
    this.#order = undefined;
  }

  bond(mark: string): void {
    this.#order = orders[mark] ?? 1;
  }

  ring(name: string): void {
    const open = this.#rings.get(name);
    if (open) this.#bind(open.atom, this.#last, this.#order ?? open.order);
    if (open) this.#rings.delete(name);
    else this.#rings.set(name, { atom: this.#last, order: this.#order });
    this.#order = undefined;
  }

  mark(mark: string): void {
    if (mark === "(") this.#branches.push(this.#last);
    else this.#last = mark === ")" ? (this.#branches.pop() ?? -1) : -1;
  }

  /** What is open at the end, in words. */
  open(): string | undefined {
    if (this.#rings.size) return `ring ${[...this.#rings.keys()][0]} is not closed`;
    return this.#branches.length ? "a branch is not closed" : undefined;
  }

  #bind(from: number, to: number, given: number | undefined): void {
    if (from < 0 || from === to) throw new SyntaxError("a ring closes at no other atom");
    const both = this.atoms[from]!.aromatic && this.atoms[to]!.aromatic;
    this.bonds.push({ from, to, order: given ?? (both ? 1.5 : 1) });
  }
}

/** Throws SyntaxError, in words for whoever types, for what is no SMILES or has too many atoms. */
export function readSmiles(text: string): Molecule {
  const reader = new Reader();
  token.lastIndex = 0;
  for (let at = 0; at < text.length; at = token.lastIndex) {
    const found = token.exec(text);
    if (!found) throw new SyntaxError(`not SMILES from “${text.slice(at)}”`);
    const [, bracketed, hydrogens, charge = "", plain, bond, ring, mark] = found;
    const name = bracketed ?? plain;
    if (name !== undefined)
      reader.atom({
        symbol: name[0]!.toUpperCase() + name.slice(1),
        aromatic: name === name.toLowerCase(),
        charge: chargeOf(charge),
        ...(bracketed ? { hydrogens: hydrogens === undefined ? 0 : Number(hydrogens || 1) } : {}),
      });
    else if (bond) reader.bond(bond);
    else if (ring) reader.ring(ring);
    else reader.mark(mark!);
  }
  const { atoms, bonds } = reader;
  const open = reader.open();
  if (open) throw new SyntaxError(open);
  if (atoms.length === 0) throw new SyntaxError("there is no atom");
  if (atoms.length > mostAtoms)
    throw new SyntaxError(`${atoms.length} atoms, there is room for ${mostAtoms}`);
  return { atoms, bonds };
}

/** "+", "++", "-2" as numbers. */
const chargeOf = (text: string): number =>
  text === "" ? 0 : /\d/.test(text) ? Number(text) : (text[0] === "-" ? -1 : 1) * text.length;

const ordersAt = ({ bonds }: Molecule, at: number): number[] =>
  bonds.filter(({ from, to }) => from === at || to === at).map(({ order }) => order);

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);

/**
 * Hydrogens of an atom: named, or as many as its valence has room for. An aromatic nitrogen has
 * none that is not named.
 */
export function hydrogensAt(molecule: Molecule, at: number): number {
  const { symbol, charge, hydrogens, aromatic } = molecule.atoms[at]!;
  if (hydrogens !== undefined) return hydrogens;
  if (aromatic && symbol !== "C") return 0;
  const valence = (valences[symbol] ?? 1) + charge;
  return Math.max(0, Math.floor(valence - sum(ordersAt(molecule, at))));
}

/**
 * Å² of nitrogen and oxygen by bonds and hydrogens, the commoner rows of the table; other atoms
 * have none.
 */
export function surfaceAt(molecule: Molecule, at: number): number {
  const { symbol, aromatic, charge } = molecule.atoms[at]!;
  const bonds = ordersAt(molecule, at);
  const h = hydrogensAt(molecule, at);
  const most = Math.max(0, ...bonds);
  if (symbol === "O") {
    if (aromatic) return 13.14;
    if (charge < 0) return 23.06;
    return most === 2 ? 17.07 : h ? 20.23 : 9.23;
  }
  if (symbol !== "N") return 0;
  if (aromatic) return h ? 15.79 : bonds.length === 3 ? 4.93 : 12.89;
  if (most === 3) return 23.79;
  if (most === 2) return h ? 23.85 : charge > 0 ? 3.01 : 12.36;
  return [3.24, 12.03, 26.02][Math.min(2, h)]!;
}

export const surfaceOf = (molecule: Molecule): number =>
  sum(molecule.atoms.map((_, at) => surfaceAt(molecule, at)));

const chance = (share: number): boolean => Math.random() < share;
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!;

const plain = (symbol: string, aromatic = false): Atom => ({ symbol, aromatic, charge: 0 });

/** Pieces that a made-up molecule is put together from, with the atoms at which others may join. */
const rings: readonly string[] = [
  "c1ccccc1",
  "c1ccncc1",
  "C1CCCCC1",
  "C1CCNCC1",
  "C1COCCN1",
  "c1ncncc1",
  "c1cc[nH]c1",
  "c1ccoc1",
  "n1(C)cncc1",
];
const ends: readonly string[] = [
  "O",
  "N",
  "C=O",
  "C(=O)O",
  "C(=O)N",
  "C#N",
  "OC",
  "N(C)C",
  "F",
  "C",
  "CC",
  "S",
  "Cl",
  "NC",
  "C=N",
  "[N+](=O)[O-]",
];

/** A molecule that could be: a chain or a ring to which ends, chains and rings are bound. */
export function madeUp(): Molecule {
  const atoms: Atom[] = [];
  const bonds: Bond[] = [];
  const add = (piece: Molecule): number => {
    const base = atoms.length;
    atoms.push(...piece.atoms);
    bonds.push(
      ...piece.bonds.map(({ from, to, order }) => ({ from: from + base, to: to + base, order })),
    );
    return base;
  };
  const hasRoom = (at: number): boolean =>
    atoms[at]!.symbol === "C" && hydrogensAt({ atoms, bonds }, at) > 0;
  add(
    chance(0.6)
      ? readSmiles(oneOf(rings))
      : { atoms: [plain("C"), plain("C")], bonds: [{ from: 0, to: 1, order: 1 }] },
  );
  const pieces = 1 + Math.floor(4 * Math.random());
  for (let i = 0; i < pieces; i++) {
    const free = atoms.map((_, at) => at).filter(hasRoom);
    const piece = readSmiles(chance(0.2) ? oneOf(rings.slice(0, 8)) : oneOf(ends));
    if (!free.length || atoms.length + piece.atoms.length > mostAtoms) break;
    const from = oneOf(free);
    const base = add(piece);
    // A piece joins by its first atom that has room, else by its first.
    bonds.push({ from, to: base, order: 1 });
  }
  return { atoms, bonds };
}
