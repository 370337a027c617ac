/**
 * The one-file form: the files of the folder form in a zip archive without compression, so that any
 * unzip opens it. The reader accepts only the archives this writer makes, byte for byte, apart from
 * the contents; an archive made or repacked by another tool is refused. No zip64: beyond 4 GiB use
 * the folder form.
 */
import { directory, isName, localHeader, type Member, maxMembers, readArchive } from "./archive.ts";
import type { Artifact } from "./artifact.ts";
import { crc32 } from "./crc32.ts";
import { decodeArtifact } from "./decode.ts";
import { encodeArtifact } from "./encode.ts";
import { ArtifactError } from "./errors.ts";

/**
 * One file in one archive of `encodeArtifact(a)`. Throws ArtifactError as it does, or beyond 4 GiB.
 */
export const packArtifact = (a: Artifact): Uint8Array => packFiles(encodeArtifact(a));

/** The artifact in an archive made by packArtifact. Throws ArtifactError. */
export const unpackArtifact = (bytes: Uint8Array): Artifact => decodeArtifact(unpackFiles(bytes));

/**
 * The archive of `files`, in their order. Throws ArtifactError for a name with more than two
 * folders, or beyond 4 GiB.
 */
export function packFiles(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const members: Member[] = [];
  const parts: ArrayLike<number>[] = [];
  let offset = 0;
  for (const [name, data] of files) {
    if (!isName(name))
      throw new ArtifactError(`packFiles: ${JSON.stringify(name)} is not a file name`);
    const member = { name, crc: crc32(data), size: data.length, offset };
    const header = localHeader(member);
    members.push(member);
    parts.push(header, data);
    offset += header.length + data.length;
  }
  parts.push(directory(members, offset));
  const total = parts.reduce((n, p) => n + p.length, 0);
  if (total >= 2 ** 32 || members.length > maxMembers)
    throw new ArtifactError(
      `packFiles: ${total} bytes in ${members.length} files, an archive holds 4294967295 in ${maxMembers}`,
    );
  const bytes = new Uint8Array(total);
  let at = 0;
  for (const p of parts) {
    bytes.set(p, at);
    at += p.length;
  }
  return bytes;
}

/**
 * The files of an archive, as views. Throws ArtifactError, naming the offset, unless packFiles made
 * it.
 */
export const unpackFiles = (bytes: Uint8Array): Map<string, Uint8Array> =>
  readArchive(bytes, (message) => {
    throw new ArtifactError(message);
  });
