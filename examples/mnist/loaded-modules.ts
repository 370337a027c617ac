/**
 * Which of this repository's modules a process has loaded, from the engine's own list of scripts.
 */
import { type Debugger, Session } from "node:inspector";

/** Paths from the repository's root of every module in this process, those of node_modules left out. */
function loadedModules(): string[] {
  const root = new URL("../../", import.meta.url).href;
  const urls = new Set<string>();
  const session = new Session();
  session.connect();
  session.on(
    "Debugger.scriptParsed",
    ({ params }: { params: Debugger.ScriptParsedEventDataType }) => urls.add(params.url),
  );
  // Tells of all scripts so far before it returns.
  session.post("Debugger.enable");
  session.disconnect();
  return [...urls]
    .filter((url) => url.startsWith(root) && !url.includes("/node_modules/"))
    .map((url) => url.slice(root.length));
}

/**
 * How many modules of each package are loaded, and which of them the runtime should do without: all but its own,
 * those of artifacts, and the one file of error classes that every package shares.
 */
export function foreignModules(): { readonly counts: string; readonly foreign: string[] } {
  const modules = loadedModules().filter((path) => !path.startsWith("examples/"));
  const errors = "packages/ir/src/errors.ts";
  const counts = new Map<string, number>();
  for (const path of modules) {
    const name = path === errors ? errors : /^(packages\/\w+|\w+)/.exec(path)![0];
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return {
    counts: [...counts].map(([name, n]) => (name === errors ? name : `${n} of ${name}`)).join(", "),
    foreign: modules.filter(
      (path) => path !== errors && !/^(runtime|packages\/artifact)\//.test(path),
    ),
  };
}
