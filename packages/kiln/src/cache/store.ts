/**
 * Where programs are kept between processes or visits: on the disk in Node, in the browser's cache
 * storage in pages. None where a build does not say which compiler it is, as when it runs from
 * source: what it keeps could then outlive a change.
 */
import { settings } from "../devices/settings.ts";

export interface Store {
  /** SHA-256, in hex. */
  digest(what: string | Uint8Array): string | Promise<string>;
  read(key: string): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Keeps nothing, and says so once, where there is no place. */
  write(key: string, bytes: Uint8Array): void | Promise<void>;
  remove(key: string): void | Promise<void>;
}

/** Put in by the build: a hash of the sources that decide what a program is compiled to. */
declare const KILN_BUILD: string | undefined;

/** Which compiler this is; undefined where nothing tells. */
export const buildHash = (): string | undefined =>
  typeof KILN_BUILD === "string" ? KILN_BUILD : undefined;

/** The store of this process or page. */
export async function openStore(): Promise<Store | undefined> {
  if (buildHash() === undefined) return undefined;
  if (settings.store !== undefined) return settings.store ?? undefined;
  const opened = globalThis.process?.versions?.node
    ? (await import("./disk.ts")).openDisk()
    : globalThis.caches && globalThis.crypto?.subtle
      ? (await import("./page.ts")).openPage()
      : undefined;
  settings.store = opened ?? null;
  return opened;
}
