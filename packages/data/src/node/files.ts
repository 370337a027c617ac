/** Single files: the readers of bytes, with the file's path as its name. */
import { readWhole } from "@kiln-ml/artifact/node";
import { ArtifactError } from "@kiln-ml/ir";
import { type CsvOptions, readCsv, type Table } from "../csv.ts";
import { readEdf, type Signal } from "../edf.ts";
import { type Items, naming } from "../items.ts";
import { readJsonLines } from "../text.ts";
import { readWav, type Wave } from "../wav.ts";

/** The options of a reader but for the name, which is the path. */
export type FileOptions<T> = Omit<T, "name">;

/** All bytes of a regular file. Rejects with ArtifactError, the path in front. */
export async function bytesOf(path: string): Promise<Uint8Array> {
  try {
    return await readWhole(path);
  } catch (error) {
    if (error instanceof ArtifactError) throw naming(error);
    throw naming(
      new ArtifactError(`${path}: cannot be read: ${(error as Error).message}`, { cause: error }),
    );
  }
}

/** A table of comma-separated values, as `readCsv` reads it. */
export const readCsvFile = async (
  path: string,
  options: FileOptions<CsvOptions> = {},
): Promise<Table> => readCsv(await bytesOf(path), { ...options, name: path });

/** JSON values, one a line, as `readJsonLines` reads them. */
export const readJsonLinesFile = async <T = unknown>(path: string): Promise<Items<T>> =>
  readJsonLines<T>(await bytesOf(path), { name: path });

/** Sound, as `readWav` reads it. */
export const readWavFile = async (path: string): Promise<Wave> =>
  readWav(await bytesOf(path), { name: path });

/** A recording, as `readEdf` reads it. */
export const readEdfFile = async (path: string): Promise<Signal[]> =>
  readEdf(await bytesOf(path), { name: path });
