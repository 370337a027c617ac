/** Writes a template into a folder that is new or empty. Installs nothing, and asks nobody. */
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Refusal } from "./refusal.ts";
import { templateNamed } from "./templates.ts";

/** Beside `src` and `dist`, whichever this runs from. */
const own = fileURLToPath(new URL("../", import.meta.url));

/** What may be in a folder that counts as empty. */
const ignored = new Set([".git", ".DS_Store"]);

/**
 * Writes the template's files; returns their paths within the folder, in order.
 *
 * `folder` is made if it is not there. The package gets the folder's name, and asks for Kiln at the
 * version of this package. Throws Refusal for a template that there is not, a folder that is a file
 * or not empty, and a name that no package can have.
 *
 *     await createApp("my-app", "page");
 */
export async function createApp(folder: string, template: string): Promise<readonly string[]> {
  const { name } = templateNamed(template);
  const target = resolve(folder);
  const packageName = nameOf(target);
  await checkEmpty(folder, target);
  const from = join(own, "templates", name);
  const entries = await readdir(from, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(from.length + 1))
    .filter((path) => !/(^|[\\/])(node_modules|dist|out)[\\/]/.test(path))
    .sort();
  const { version } = JSON.parse(await readFile(join(own, "package.json"), "utf8"));
  const written: string[] = [];
  for (const path of paths) {
    // npm leaves out of a package what is called .gitignore.
    const to = path === "_gitignore" ? ".gitignore" : path;
    const text = await readFile(join(from, path), "utf8");
    await mkdir(dirname(join(target, to)), { recursive: true });
    await writeFile(
      join(target, to),
      to === "package.json" ? manifest(text, packageName, version) : text,
    );
    written.push(to.replaceAll("\\", "/"));
  }
  return written;
}

function manifest(text: string, name: string, version: string): string {
  const given = JSON.parse(text);
  const dependencies = { ...given.dependencies, "kiln-ml": `^${version}` };
  return `${JSON.stringify({ name, ...given, dependencies }, null, 2)}\n`;
}

/** Names of packages: https://docs.npmjs.com/cli/configuring-npm/package-json#name. */
function nameOf(target: string): string {
  const folder = basename(target);
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9._~-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "");
  if (name === "" || name.length > 214)
    throw new Refusal(
      `no package can be called ${JSON.stringify(folder)}\n  name the folder by letters, digits and -`,
    );
  return name;
}

async function checkEmpty(folder: string, target: string): Promise<void> {
  const kind = await stat(target).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    if (error.code === "ENOTDIR") throw new Refusal(`${folder} lies in a file, not in a folder`);
    throw error;
  });
  if (!kind) return;
  if (!kind.isDirectory()) throw new Refusal(`${folder} is a file\n  name a new folder`);
  const [first] = (await readdir(target)).filter((name) => !ignored.has(name)).sort();
  if (first !== undefined)
    throw new Refusal(`${folder} is not empty: it has ${first}\n  name a new folder`);
}
