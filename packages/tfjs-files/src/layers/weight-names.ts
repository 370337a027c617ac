/**
 * Which weights of a manifest belong to a layer. Writers name them after the layer, with the names
 * of the models around it in front or not, and that of a cell before the last part or not.
 */
import type { Field } from "../file/field.ts";

/** Parts that a name may have for each of its ranges to be looked up. */
const mostParts = 12;

export class WeightNames {
  /** By the name of a layer: what follows it in the weight's name, and that name. */
  readonly #byLayer = new Map<string, (readonly [rest: string, full: string])[]>();

  constructor(names: readonly string[]) {
    for (const full of names) {
      const parts = full.split("/");
      const starts = parts.length > mostParts ? 1 : parts.length;
      for (let from = 0; from < starts; from++)
        for (let to = from + 1; to < parts.length; to++) {
          const layer = parts.slice(from, to).join("/");
          const list = this.#byLayer.get(layer) ?? [];
          list.push([parts.slice(to).join("/"), full]);
          this.#byLayer.set(layer, list);
        }
    }
  }

  /** `layer/rest` and the full name of every weight of a layer, and of those that it wraps. */
  of(
    layer: string,
    config: Field,
    prefix: string,
    field: Field,
  ): readonly (readonly [key: string, full: string])[] {
    const found = new Map<string, string>();
    for (const name of namesOf(layer, config)) {
      for (const [rest, full] of this.#byLayer.get(name) ?? []) {
        const key = `${name}/${rest}`;
        const other = found.get(key);
        if (other === undefined || other === full) found.set(key, full);
        else found.set(key, nearer(key, prefix, other, full) ?? ambiguous(field, key));
      }
    }
    return [...found];
  }
}

function ambiguous(field: Field, key: string): never {
  return field.fail(`has two weights for ${key}: the names of its models do not tell them apart`);
}

/** Of two weights the one that is named after the models around the layer, or after none. */
function nearer(key: string, prefix: string, a: string, b: string): string | undefined {
  for (const name of [`${prefix}${key}`, key]) if (a === name || b === name) return name;
  return undefined;
}

/** The names under which the weights of a layer may stand. */
function namesOf(layer: string, config: Field, depth = 0): string[] {
  const own = [layer];
  if (!config.isRecord || depth > 4) return own;
  for (const key of ["layer", "backward_layer", "cell"]) {
    const inner = config.maybe(key);
    if (!inner?.isRecord) continue;
    const within = inner.get("config");
    const name = within.maybe("name")?.text();
    if (name === undefined) continue;
    for (const n of [name, `forward_${name}`, `backward_${name}`])
      own.push(...namesOf(n, within, depth + 1));
  }
  return own;
}
