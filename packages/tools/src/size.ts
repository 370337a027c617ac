/**
 * Prints what a page downloads, minified, gzipped and with brotli: the runtime loader by itself, which runs a compiled
 * artifact, and programs that compile in the page.
 */
import { pageSize, pages } from "./page-size.ts";

const kilobytes = (n: number) => `${(n / 1000).toFixed(1)} kB`.padStart(9);

for (const [name, page] of Object.entries(pages)) {
  const { minified, gzip, brotli } = await pageSize(page);
  console.log(
    `${name.padEnd(36)}${kilobytes(minified)} min ${kilobytes(gzip)} gzip ${kilobytes(brotli)} brotli`,
  );
}
