/**
 * The memory that stays between runs of a standalone program: constants and states, each at a
 * multiple of a cache line, and the file that fills it. All of it little-endian.
 */
import { createHash } from "node:crypto";
import { type Artifact, ArtifactError, type Constant, packedBytes } from "@kiln-ml/artifact";

/** Values begin at multiples of a cache line. */
const lineBytes = 64;

/** Kernels fold small negative offsets into their addresses, so nothing lies before this. */
export const firstAddress = 1024;

const lineUp = (bytes: number): number => Math.ceil(bytes / lineBytes) * lineBytes;

export interface Kept {
  /** Where each lies. */
  readonly constants: readonly number[];
  readonly states: readonly number[];
  /** Where what follows begins. */
  readonly end: number;
  /** What lies from `firstAddress` to the end. */
  readonly bytes: Uint8Array;
  /** Of those bytes, 16 hexadecimal digits. */
  readonly digest: string;
}

const magic = "kiln weights 1\n";

/** Where constants and states lie, and their values. Throws ArtifactError for a state without one. */
export function keptOf({ constants, signature, weights }: Artifact): Kept {
  let end = firstAddress;
  const parts: [at: number, data: Uint8Array][] = [];
  const put = (size: number, data: Uint8Array | undefined): number => {
    const at = end;
    if (data) parts.push([at, data]);
    end += lineUp(size);
    return at;
  };
  const placed = constants.map(({ data }) => put(data.length, data));
  const states = signature.states.map(({ name, dtype, shape }) => {
    const found: Constant | undefined = Object.hasOwn(weights, name) ? weights[name] : undefined;
    if (!found)
      throw new ArtifactError(
        `standalone: state ${name} has no value\n  compile it with the weights`,
      );
    return put(
      shape.reduce((n, d) => n * d, packedBytes(dtype)),
      found.data,
    );
  });
  const bytes = new Uint8Array(end - firstAddress);
  for (const [at, data] of parts) bytes.set(data, at - firstAddress);
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
  return { constants: placed, states, end, bytes, digest };
}

/** A line that says what it is, and the bytes. */
export function weightsFile({ bytes, digest }: Kept): Uint8Array {
  const file = new Uint8Array(lineBytes + bytes.length);
  file.set(new TextEncoder().encode(`${magic}${digest}\n`));
  file.set(bytes, lineBytes);
  return file;
}

/** The first line of the file, as a program expects it. */
export const firstLine = ({ digest }: Kept): string => `${magic}${digest}\n`;

/** The bytes as words of C, eight a line; a word where there are none, as C has no empty arrays. */
export function embeddedText({ bytes }: Kept): string {
  const words = bytes.length ? new Uint32Array(bytes.buffer, 0, bytes.length / 4) : [0];
  const lines: string[] = [];
  for (let i = 0; i < words.length; i += 8)
    lines.push(`  ${[...words.slice(i, i + 8)].map((w) => `0x${w.toString(16)}u,`).join("")}`);
  return `static const uint32_t embedded[] = {\n${lines.join("\n")}\n};\n`;
}
