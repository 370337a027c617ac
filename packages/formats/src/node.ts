/**
 * Files of a disk as sources of ranges, for Node. A page never imports this.
 */
import { open } from "node:fs/promises";
import { ArtifactError } from "@kiln-ml/artifact";
import type { RangeSource } from "./source.ts";

export interface FileSource extends RangeSource {
  close(): Promise<void>;
}

/** A file, open until it is closed. Rejects with ArtifactError if it cannot be opened. */
export async function openFile(path: string): Promise<FileSource> {
  const file = await open(path, "r").catch((error: Error) => {
    throw new ArtifactError(`${path}: cannot be opened: ${error.message}`, { cause: error });
  });
  const { size } = await file.stat();
  return {
    name: path,
    size,
    async read(start, end) {
      const bytes = new Uint8Array(end - start);
      let filled = 0;
      while (filled < bytes.length) {
        const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, start + filled);
        if (bytesRead === 0)
          throw new ArtifactError(`${path}: offset ${start + filled}: the file has become shorter`);
        filled += bytesRead;
      }
      return bytes;
    },
    close: () => file.close(),
  };
}
