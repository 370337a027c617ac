/**
 * What the native device asks Node for, when it asks: no bundle of a page is to have it. A file of
 * its own, since its types are those of Node, which a program that names a device need not have.
 */
import { nodeModule } from "../wasm-threads.ts";

type Fs = typeof import("node:fs");
type Path = typeof import("node:path");

export const node = {
  fs: () => nodeModule<Fs>("node:fs")!,
  path: () => nodeModule<Path>("node:path")!,
  os: () => nodeModule<typeof import("node:os")>("node:os")!,
  child: () => nodeModule<typeof import("node:child_process")>("node:child_process")!,
  crypto: () => nodeModule<typeof import("node:crypto")>("node:crypto")!,
};
