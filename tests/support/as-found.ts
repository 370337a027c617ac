/**
 * What test files of one process share and may leave changed behind: the environment, settings and
 * devices of the package, first values that layers draw, the working directory, and functions of
 * the platform. The worker puts it all back after each file, so that none depends on which ran
 * before it.
 */
import { seed } from "@kiln-ml/nn";
import type { Device } from "@kiln-ml/runtime";
import { settings } from "../../packages/kiln/src/devices/settings.ts";
import { useDevice } from "../../packages/kiln/src/index.ts";

/** What an object holds under its names; what is added stays: libraries that are loaded once keep their state there. */
function values(of: object): () => void {
  const before = Object.getOwnPropertyDescriptors(of) as Record<PropertyKey, PropertyDescriptor>;
  return () => {
    for (const name of Reflect.ownKeys(before)) {
      const [was, is] = [before[name]!, Object.getOwnPropertyDescriptor(of, name)];
      if (is?.value === was.value && is !== undefined) continue;
      if (is?.configurable !== false) Object.defineProperty(of, name, was);
    }
  };
}

/** A process's variables are texts, and no properties like others. */
function environment(): () => void {
  const before = { ...process.env };
  return () => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
    Object.assign(process.env, before);
  };
}

/** Devices that a program opened itself; where there was none, the next program opens one anew. */
function devices(): () => void {
  const before = new Map(settings.used);
  return () => {
    for (const target of ["js", "wasm", "native", "webgpu"] as const) {
      const [was, is] = [before.get(target), settings.used?.get(target)];
      // A session of the software adapter is one too.
      if (was === is && target !== "webgpu") continue;
      useDevice(was ?? ({ target, lost: Promise.resolve() } as unknown as Device));
    }
  };
}

/** Takes note of how things are; what it gives puts them back. */
export function asFound(): () => Promise<void> {
  const directory = process.cwd();
  const { used: _, ...plain } = settings;
  const all = [
    environment(),
    devices(),
    () => {
      const { used } = settings;
      for (const name of Object.keys(settings)) delete settings[name as keyof typeof settings];
      Object.assign(settings, plain, used && { used });
    },
    ...[globalThis, console, Math, Date, JSON].map(values),
    () => seed(0),
    () => process.chdir(directory),
  ];
  return async () => {
    for (const restore of all) restore();
    // A device that is lost is forgotten a moment later.
    await new Promise((resolve) => setImmediate(resolve));
  };
}
