/**
 * Where a reader stands in a file, and the one way in which it fails. Also the limits that keep what a hostile file
 * can ask for near its own size: depth of messages, elements that sparse tensors expand to.
 */
import { BinaryReader } from "@bufbuild/protobuf/wire";
import { ArtifactError } from "@kiln-ml/ir/errors";

/** A file beside the model of which only ranges are read. */
export interface ExternalFile {
  /** In bytes. */
  readonly size: number;
  /** The bytes from `start` up to `end`; exactly so many. */
  readSync(start: number, end: number): Uint8Array;
  /** Called when the model is read. */
  close?(): void;
}

/** The file at a location relative to the model's: its bytes, or an open file; undefined if there is none. */
export type External = (location: string) => Uint8Array | ExternalFile | undefined;

export interface Source {
  readonly file: string;
  readonly bytes: Uint8Array;
  readonly reader: BinaryReader;
  readonly external: External | undefined;
  /** External files that were asked for, and the bytes that tensors may still take from each. */
  readonly files: Map<string, { readonly file: ExternalFile; left: number }>;
  /** Messages that the one being read lies in. */
  depth: number;
  /** Bytes that sparse tensors may still expand to. */
  expansion: number;
}

/** A graph inside a graph is three messages deeper: node, attribute, graph. So 64 graphs fit. */
export const maxDepth = 200;

export function openSource(from: Uint8Array, file: string, external?: External): Source {
  // Node's Buffer is a Uint8Array whose slice does not copy.
  const bytes = new Uint8Array(from.buffer, from.byteOffset, from.byteLength);
  const reader = new BinaryReader(bytes);
  const expansion = 2 ** 20 + 64 * bytes.length;
  return { file, bytes, reader, external, files: new Map(), depth: 0, expansion };
}

/** Throws ArtifactError: `file: what, at byte N`. */
export function failAt(source: Source, at: number, what: string): never {
  throw new ArtifactError(`${source.file}: ${what}, at byte ${at}`);
}

/** A name or text from the file, quoted and cut, for messages. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}
