// Unpacks the headless Chromium and the software Vulkan driver that @sparticuz/chromium carries, once, into
// node_modules/.cache/kiln-chromium, and says which environment a process needs to find them. Linux on x64 only:
// elsewhere it returns nothing and the tests that need them skip (or fail, in CI).

import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliDecompressSync } from "node:zlib";

/** Writes the regular files of a ustar archive under a folder. */
function untar(archive, folder) {
  const text = (from, length) =>
    archive.toString("latin1", from, from + length).replace(/\0.*$/s, "");
  for (let at = 0; at + 512 <= archive.length && archive[at] !== 0; ) {
    const name = text(at, 100);
    const size = Number.parseInt(text(at + 124, 12), 8);
    const isFile = archive[at + 156] === 0x30 || archive[at + 156] === 0;
    if (isFile) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, archive.subarray(at + 512, at + 512 + size), { mode: 0o755 });
    }
    at += 512 + Math.ceil(size / 512) * 512;
  }
}

/** Unpacks if need be; returns environment variables for the test process, none where nothing is to be had. */
export function unpackChromium(root) {
  const source = join(root, "node_modules/@sparticuz/chromium");
  if (process.platform !== "linux" || process.arch !== "x64" || !existsSync(source)) return {};
  const { version } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  const folder = join(root, "node_modules/.cache/kiln-chromium", version);
  if (!existsSync(folder)) {
    // Into a folder of our own first: another run may be unpacking, and a half-written one must not be found.
    const partial = `${folder}-${process.pid}`;
    mkdirSync(partial, { recursive: true });
    const inflate = (name) => brotliDecompressSync(readFileSync(join(source, "bin", name)));
    writeFileSync(join(partial, "chromium"), inflate("chromium.br"), { mode: 0o755 });
    for (const name of ["swiftshader", "al2023", "fonts"])
      untar(inflate(`${name}.tar.br`), partial);
    try {
      renameSync(partial, folder);
    } catch {
      rmSync(partial, { recursive: true, force: true });
    }
  }
  const path = process.env.LD_LIBRARY_PATH;
  return {
    KILN_CHROMIUM: folder,
    LD_LIBRARY_PATH: path ? `${folder}:${path}` : folder,
    VK_DRIVER_FILES: join(folder, "vk_swiftshader_icd.json"),
  };
}
