/** What is wrong with a file is told with the name that the user gave it. */
import { basename } from "node:path";
import { ArtifactError } from "@kiln-ml/artifact";
import { short } from "./failure.ts";

/** The result of reading `path`; what is wrong with it is told with its name. */
export async function ofFile<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof ArtifactError) || error.message.includes(basename(path))) throw error;
    throw new ArtifactError(`${short(path)}: ${error.message}`, { cause: error });
  }
}
