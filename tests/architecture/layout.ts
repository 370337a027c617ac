/** The layout that docs/architecture.md tells against the paths of the tree: complaints, one line each. */

/** First cells of the table's rows that a line of `text` heads, without code marks. */
function firstCells(text: string, heading: string): string[] {
  const from = text.indexOf(heading);
  const rows = text.slice(from).split("\n\n")[1]?.split("\n") ?? [];
  return rows
    .slice(2)
    .flatMap((row) => Array.from(row.split("|")[1]!.matchAll(/`([^`]+)`/g), ([, cell]) => cell!));
}

/** Paths of a cell: `targets/{js,wasm}` are two. */
const spread = (cell: string): string[] => {
  const [, before, list, after] = /^(.*)\{(.*)\}(.*)$/.exec(cell) ?? [];
  return list === undefined ? [cell] : list.split(",").map((part) => `${before}${part}${after}`);
};

/** Where the layout that docs/architecture.md tells and the tree differ. */
export function wrongLayout(text: string, paths: readonly string[]): string[] {
  const told = (heading: string, root: string): string[] =>
    firstCells(text, heading)
      .flatMap(spread)
      .map((cell) => root + cell.replace(/\/$/, ""));
  const exists = (path: string): boolean =>
    paths.some((p) => p === path || p.startsWith(`${path}/`));
  const workspaces = told("## Code map", "");
  const inside = told("Inside `compiler/src`", "compiler/src/");
  const gone = [...workspaces, ...inside].filter((path) => !exists(path));
  const tops = new Set(
    paths.flatMap(
      (p) => /^packages\/[^/]+(?=\/src\/)|^(compiler|runtime)(?=\/src\/)/.exec(p)?.[0] ?? [],
    ),
  );
  const entries = new Set(paths.flatMap((p) => /^compiler\/src\/[^/]+/.exec(p)?.[0] ?? []));
  const isTold = (path: string): boolean =>
    inside.some((t) => t === path || t.startsWith(`${path}/`));
  return [
    ...gone.map((path) => `${path}: told, and not there`),
    ...[...tops].filter((path) => !workspaces.includes(path)).map((path) => `${path}: not told`),
    ...[...entries].filter((path) => !isTold(path)).map((path) => `${path}: not told`),
  ];
}
