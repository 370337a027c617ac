/**
 * Names of a pickle, and calls of them: a name is looked up in the table of the host and nowhere else.
 */
import { type Fail, quoted } from "../reading.ts";
import { describe, Global, Opaque, type PickleHost, type PickleValue } from "./values.ts";

/** A reference to `name`. Throws ArtifactError if it is not a known one and those are refused. */
export function referTo(name: string, offset: number, host: PickleHost, fail: Fail): PickleValue {
  if (!host.makers.has(name) && !host.known.has(name) && host.unknown === "refuse")
    return fail(
      `the pickle names ${quoted(name)}, which is not one of the names that are known to be harmless\n  pass { unknown: "skip" } to read what is beside it`,
      offset,
    );
  return new Global(name, offset);
}

/** What a call makes: by the table, or an opaque record of it. */
export function callGlobal(
  callee: PickleValue,
  args: PickleValue,
  offset: number,
  host: PickleHost,
  fail: Fail,
): PickleValue {
  if (!(callee instanceof Global)) {
    if (callee instanceof Opaque && host.unknown === "skip")
      return new Opaque(callee.name, offset, [args]);
    return fail(`the pickle calls ${describe(callee)}`, offset);
  }
  const list = Array.isArray(args) ? args : fail(`the arguments are ${describe(args)}`, offset);
  const make = host.makers.get(callee.name);
  if (make) return make(list, offset);
  if (host.unknown === "skip") return new Opaque(callee.name, offset, list);
  return fail(`the pickle calls ${quoted(callee.name)}, which only stands for itself`, offset);
}
