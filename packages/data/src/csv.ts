/**
 * Tables of comma-separated values, read by papaparse (RFC 4180 and what spreadsheets make of it).
 * Cells are texts until a column is asked for as numbers or classes; a line end within quotes is a
 * line feed. Rows are counted as a reader of the file sees records, the header being row 1.
 */
import { ArtifactError, checkOptions, GraphError, type OptionNames } from "@kiln-ml/ir";
import { setBatchShape } from "./batch-shape.ts";
import { type Items, naming } from "./items.ts";
import { textOf } from "./text.ts";

export interface CsvOptions {
  /** What errors call the file; "csv" by default. */
  readonly name?: string;
  /**
   * Whether the first row has the names of the columns, true by default; else they are "0", "1", …
   */
  readonly header?: boolean;
  /** Guessed from the first rows by default. */
  readonly delimiter?: string;
}

const csvOptions: OptionNames<CsvOptions> = { name: 1, header: 1, delimiter: 1 };

/** Labels, and the classes that they count. */
export interface Classes {
  readonly labels: Int32Array;
  readonly classes: readonly string[];
}

/** A column by name, or by its place. */
export type Column = string | number;

/**
 * The rows of a table, none ragged. Reads nothing but the text that it is given.
 *
 * Rejects with ArtifactError for an empty table, a row with more or fewer cells than the header,
 * and a quote that is not closed. `pandas.read_csv`.
 *
 * @param text The text, or its bytes in UTF-8.
 * @example
 *   const table = await readCsv("age,name\n31,Ann\n45,Bob");
 *   table.length // 2
 *   table.numbers("age") // [31, 45]
 */
export async function readCsv(text: string | Uint8Array, options: CsvOptions = {}): Promise<Table> {
  const {
    name = "csv",
    header = true,
    delimiter = "",
  } = checkOptions("readCsv", options, csvOptions);
  // Loaded where it is needed: a page that reads no tables does not download it.
  const { default: papa } = await import("papaparse");
  // papaparse looks at the first line end only, and files have several kinds of them.
  const lines = textOf(text, name).replace(/\r\n?/g, "\n");
  const { data, errors } = papa.parse<string[]>(lines, {
    delimiter,
    newline: "\n",
    skipEmptyLines: true,
  });
  const [bad] = errors.filter((e) => e.type === "Quotes");
  if (bad) throw new ArtifactError(`${name}: row ${(bad.row ?? 0) + 1}: ${lowered(bad.message)}`);
  const first = data[0];
  if (!first || (header && data.length < 2))
    throw new ArtifactError(`${name}: the table has no rows`);
  const names = header ? first : first.map((_, i) => String(i));
  for (const [i, row] of data.entries())
    if (row.length !== names.length)
      throw new ArtifactError(
        `${name}: row ${i + 1} has ${row.length} cells, ${header ? "the header" : "row 1"} has ${names.length}\n  mend the row, or give the delimiter if it is not what was guessed`,
      );
  return new Table(name, names, header ? data.slice(1) : data, header ? 2 : 1);
}

const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/**
 * The cells of a table as texts, and columns of them as typed arrays. `pandas.DataFrame`.
 *
 * @param name What errors call the file.
 * @param names Of the columns.
 * @param rows Cells.
 * @param firstRow The line of the file at which they begin.
 * @example
 *   const table = await readCsv("colour,x\nred,1\nblue,2\nred,3");
 *   table.column("colour") // ["red", "blue", "red"]
 *   table.numbers("x") // [1, 2, 3]
 *   table.classes("colour") // { classes: ["blue", "red"], labels: [1, 0, 1] }
 */
export class Table implements Items<readonly string[]> {
  /** Names of the columns. */
  readonly names: readonly string[];
  readonly #name: string;
  readonly #rows: readonly (readonly string[])[];
  readonly #firstRow: number;

  constructor(
    name: string,
    names: readonly string[],
    rows: readonly (readonly string[])[],
    firstRow: number,
  ) {
    this.names = names;
    this.#name = name;
    this.#rows = rows;
    this.#firstRow = firstRow;
  }

  /** Rows, the header not counted. */
  get length(): number {
    return this.#rows.length;
  }

  get(index: number): readonly string[] {
    const row = this.#rows[index];
    if (!row) throw new GraphError(`${this.#name}: row ${index} of ${this.length} was asked for`);
    return row;
  }

  name(index: number): string {
    return `${this.#name}: row ${index + this.#firstRow}`;
  }

  /** The texts of a column. */
  column(column: Column): string[] {
    const at = this.#place(column);
    return this.#rows.map((row) => row[at]!);
  }

  /**
   * The columns as f32[rows, columns], all by default. An empty cell is NaN if `missing` is "NaN".
   * Throws ArtifactError for a cell that is no number, with its row.
   */
  numbers(
    columns: Column | readonly Column[] = this.names,
    missing: "refuse" | "NaN" = "refuse",
  ): Float32Array {
    const list = Array.isArray(columns) ? (columns as readonly Column[]) : [columns as Column];
    const places = list.map((c) => this.#place(c));
    const out = new Float32Array(this.length * places.length);
    let at = 0;
    for (const [i, row] of this.#rows.entries())
      for (const place of places) {
        const cell = row[place]!.trim();
        const value = cell === "" ? Number.NaN : Number(cell);
        if (Number.isNaN(value) && cell !== "NaN" && !(cell === "" && missing === "NaN"))
          throw naming(
            new ArtifactError(
              `${this.name(i)}: column ${this.names[place]} has ${JSON.stringify(row[place])}, not a number${cell === "" ? '\n  pass "NaN" for cells that are missing' : ""}`,
            ),
          );
        out[at++] = value;
      }
    setBatchShape(out, Array.isArray(columns) ? [this.length, places.length] : [this.length]);
    return out;
  }

  /**
   * A column as labels: indices into `classes`, which are the texts of the column in the order of
   * the alphabet unless given, as those of the training set are for a test set. Throws
   * ArtifactError for a text that is not among them, with its row.
   */
  classes(column: Column, classes?: readonly string[]): Classes {
    const texts = this.column(column);
    const known = classes ?? [...new Set(texts)].sort();
    const places = new Map(known.map((c, i) => [c, i]));
    const labels = new Int32Array(texts.length);
    for (const [i, text] of texts.entries()) {
      const label = places.get(text);
      if (label === undefined)
        throw naming(
          new ArtifactError(
            `${this.name(i)}: column ${this.names[this.#place(column)]} has the class ${JSON.stringify(text)}, which is not among ${known.join(", ")}`,
          ),
        );
      labels[i] = label;
    }
    return { labels, classes: known };
  }

  #place(column: Column): number {
    const at = typeof column === "number" ? column : this.names.indexOf(column);
    if (at < 0 || this.names[at] === undefined)
      throw new GraphError(
        `${this.#name}: there is no column ${column}\n  it has ${this.names.join(", ")}`,
      );
    return at;
  }
}
