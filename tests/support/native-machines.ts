/**
 * Machines of the native target that this one can play: its compilers, as they are and as if the
 * processor's vectors were narrower. A compiler is a script that adds what such a machine lacks, so
 * that what is asked of it there is asked here.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "uvu";
import { type Compiler, findCompiler } from "../../runtime/src/devices/native/compiler.ts";
import { nativeHere } from "./native.ts";
import { skip } from "./skip.ts";

const scratch = mkdtempSync(join(tmpdir(), "kiln-machines-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

export interface NativeMachine {
  readonly name: string;
  /** Programs of a sample: the more the likelier the machine. */
  readonly share: number;
  /** A test that takes the machine; where it cannot be played, it is counted with the reason. */
  test(name: string, body: (compiler: Compiler) => Promise<void>): void;
}

async function playing(name: string, cc: string, less: string, most: number, share: number) {
  const command = join(scratch, name.replace(/\W+/g, "-"));
  writeFileSync(command, `#!/bin/sh\nexec ${cc} "$@" ${less}\n`);
  chmodSync(command, 0o755);
  const found =
    typeof nativeHere === "string"
      ? nativeHere
      : await findCompiler(command).catch((e: Error) => e.message.split("\n")[0]!);
  if (typeof found !== "string" && found.lanes > most)
    throw new Error(`${name} has ${found.lanes} lanes, at most ${most} were left to it`);
  return {
    name,
    share,
    test: (what: string, body: (compiler: Compiler) => Promise<void>) => {
      const full = `${name}: ${what}`;
      if (typeof found === "string") skip(full, found);
      else test(full, () => body(found));
    },
  };
}

/** What a compiler has no option for, such as these on ARM, makes it none. */
export const machines: readonly NativeMachine[] = [
  await playing("native", "cc", "", 16, 30),
  await playing("as with AVX2", "cc", "-mno-avx512f", 8, 12),
  await playing("as with SSE4", "cc", "-mno-avx", 4, 6),
  await playing("clang", "clang", "", 16, 12),
  await playing("clang as with AVX2", "clang", "-mno-avx512f", 8, 6),
];
