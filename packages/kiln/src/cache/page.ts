/**
 * Kept programs of a page: responses in the cache storage of its origin, which the browser may
 * empty. Never fails a program.
 */
import type { Store } from "./store.ts";

const cacheName = "kiln-programs";
/** Beyond these those that were kept longest go. */
const mostEntries = 128;
const mostBytes = 2 ** 24;

/** Nothing is ever fetched from there. */
const urlOf = (key: string): string => `https://kiln.invalid/${key}`;

export function openPage(): Store {
  const opened = caches.open(cacheName).catch(() => undefined);
  return {
    async digest(what) {
      const bytes = typeof what === "string" ? new TextEncoder().encode(what) : what;
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes as BufferSource));
      return Array.from(hash, (b) => b.toString(16).padStart(2, "0")).join("");
    },
    async read(key) {
      const found = await (await opened)?.match(urlOf(key)).catch(() => undefined);
      return found && new Uint8Array(await found.arrayBuffer());
    },
    async write(key, bytes) {
      const cache = await opened;
      if (!cache || bytes.length > mostBytes) return;
      try {
        const kept = await cache.keys();
        for (const request of kept.slice(0, Math.max(0, kept.length + 1 - mostEntries)))
          await cache.delete(request);
        await cache.put(urlOf(key), new Response(bytes as BodyInit));
      } catch {
        // The origin has no room: the page works as without it.
      }
    },
    async remove(key) {
      await (await opened)?.delete(urlOf(key)).catch(() => {});
    },
  };
}
