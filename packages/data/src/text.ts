/** Texts of files: UTF-8 or refused, and lists of JSON values, one a line. */
import { ArtifactError, checkOptions, type OptionNames } from "@kiln-ml/ir";
import { checkIndex, type Items, naming } from "./items.ts";

/** The text of a file in UTF-8. Throws ArtifactError for bytes that are none. */
export function textOf(text: string | Uint8Array, name: string): string {
  if (typeof text === "string") return text;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch (error) {
    throw new ArtifactError(`${name}: is not UTF-8\n  convert the file, or decode it yourself`, {
      cause: error,
    });
  }
}

export interface JsonLinesOptions {
  /** What errors call the file; "json lines" by default. */
  readonly name?: string;
}

const jsonLinesOptions: OptionNames<JsonLinesOptions> = { name: 1 };

/**
 * JSON values, one a line; empty lines do not count. A line is parsed when it is asked for, and an
 * error names its row in the file. `pandas.read_json(lines=True)`.
 *
 * @param text The text, or its bytes in UTF-8.
 * @example
 *   const rows = readJsonLines('{"text": "a"}\n\n{"text": "b"}\n');
 *   rows.length // 2
 *   rows.get(1) // { text: "b" }
 */
export function readJsonLines<T = unknown>(
  text: string | Uint8Array,
  options: JsonLinesOptions = {},
): Items<T> {
  const { name = "json lines" } = checkOptions("readJsonLines", options, jsonLinesOptions);
  const lines = textOf(text, name).split("\n");
  const rows: number[] = [];
  for (const [i, line] of lines.entries()) if (line.trim() !== "") rows.push(i);
  if (!rows.length) throw new ArtifactError(`${name}: the file has no lines`);
  const called = (index: number): string => `${name}: row ${rows[index]! + 1}`;
  return {
    length: rows.length,
    name: called,
    get(index) {
      try {
        return JSON.parse(lines[rows[checkIndex(index, rows.length)]!]!) as T;
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        throw naming(
          new ArtifactError(`${called(index)}: is not JSON: ${error.message}`, { cause: error }),
        );
      }
    },
  };
}
