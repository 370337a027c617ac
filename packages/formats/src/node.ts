/**
 * Files of a disk as sources of ranges, for Node. A page never imports this.
 */
import { ArtifactError } from "@kiln-ml/artifact";
import { type OpenFile, openFile as openRegular } from "@kiln-ml/artifact/node";
import type { RangeSource } from "./source.ts";

export interface FileSource extends RangeSource {
  close(): Promise<void>;
}

/** A regular file, open until it is closed. Rejects with ArtifactError if it cannot be opened. */
export async function openFile(path: string): Promise<FileSource> {
  const { name, size, read, close } = opened(path);
  return { name, size, read, close: async () => close() };
}

function opened(path: string): OpenFile {
  try {
    return openRegular(path);
  } catch (error) {
    if (error instanceof ArtifactError) throw error;
    throw new ArtifactError(`${path}: cannot be opened: ${(error as Error).message}`, {
      cause: error,
    });
  }
}
