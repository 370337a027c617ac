/**
 * Meshes: devices in a grid whose axes have names, and how a tensor is cut over them. Knows no
 * programs.
 */
import { GraphError, kindOf, type ShardSpec, specText } from "@kiln-ml/ir";

/** A grid of devices. */
export interface Mesh {
  /** Devices along each axis, by its name. */
  readonly axes: Readonly<Record<string, number>>;
  /** All devices. */
  readonly size: number;
}

/**
 * A grid of devices with named axes, the last of which is the fastest.
 *
 *   mesh({ data: 4, model: 2 }).size // 8
 *
 * Throws GraphError for an extent that is no positive integer, or without an axis.
 */
export function mesh(axes: Readonly<Record<string, number>>): Mesh {
  const entries = Object.entries(axes);
  if (entries.length === 0)
    throw new GraphError("mesh: there is no axis\n  give one with its devices: mesh({ data: 8 })");
  for (const [name, n] of entries) {
    if (!/^[A-Za-z_]\w*$/.test(name))
      throw new GraphError(
        `mesh: ${JSON.stringify(name)} is no name of an axis\n  use letters and digits: mesh({ data: 8 })`,
      );
    if (!Number.isSafeInteger(n) || n < 1)
      throw new GraphError(
        `mesh: ${name} is ${typeof n === "number" ? n : kindOf(n)}, not a number of devices\n  give a whole number of 1 or more`,
      );
  }
  const size = entries.reduce((all, [, n]) => all * n, 1);
  return Object.freeze({ axes: Object.freeze({ ...axes }), size });
}

/** `data=4, model=2`. */
export const meshText = ({ axes }: Mesh): string =>
  Object.entries(axes)
    .map(([name, n]) => `${name}=${n}`)
    .join(", ");

/** The mesh as Shardy writes it. */
export const meshAttribute = ({ axes }: Mesh): string =>
  `#sdy.mesh<[${Object.entries(axes)
    .map(([name, n]) => `"${name}"=${n}`)
    .join(", ")}]>`;

/** A spec as Shardy writes it. */
export const shardingAttribute = (spec: ShardSpec): string => {
  const axes = spec.map((a) => {
    const names = a === null ? [] : typeof a === "string" ? [a] : a;
    return `{${names.map((n) => `"${n}"`).join(", ")}}`;
  });
  return `#sdy.sharding<@mesh, [${axes.join(", ")}]>`;
};

/** Into how many parts the axes of an entry cut. */
export const partsOf = ({ axes }: Mesh, entry: ShardSpec[number]): number =>
  (entry === null ? [] : typeof entry === "string" ? [entry] : entry).reduce(
    (n, name) => n * (axes[name] ?? 1),
    1,
  );

/** What is wrong with cutting `shape` by `spec`, a line each. */
export function faultsOf(
  grid: Mesh,
  what: string,
  shape: readonly number[],
  spec: ShardSpec,
): string[] {
  const said = `${what} [${shape}] by [${specText(spec)}]`;
  if (spec.length !== shape.length)
    return [`${said}: ${spec.length} entries for ${shape.length} axes`];
  const names = spec.flatMap((a) => a ?? []);
  const unknown = names.filter((name) => !Object.hasOwn(grid.axes, name));
  if (unknown.length) return [`${said}: the mesh has no axis ${unknown.join(", ")}`];
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) return [`${said}: ${twice} cuts two axes`];
  return spec.flatMap((entry, i) => {
    const parts = partsOf(grid, entry);
    return shape[i]! % parts ? [`${said}: ${shape[i]} does not divide into ${parts}`] : [];
  });
}

/** Throws GraphError with all faults of a kind at once. */
export function refuse(grid: Mesh, faults: readonly string[]): void {
  if (faults.length === 0) return;
  const rest = faults.length > 8 ? `; and ${faults.length - 8} more` : "";
  throw new GraphError(
    `stablehlo: the mesh ${meshText(grid)} cannot cut ${faults.slice(0, 8).join("; ")}${rest}\n  name axes of the mesh, one entry an axis, with extents that divide; a batch that is short is left out by { dropLast: true }`,
  );
}
