/**
 * Puts the card where libraries for pages look for it, `navigator.gpu`. Changes globals, so only a
 * peer's process loads this.
 */
// No static import, which a bundle would have in front of all, wanted or not.
const { create, globals } = await import("webgpu");

Object.assign(globalThis, globals, { self: globalThis });
// Held here: collecting it while a device lives kills the process.
const value = {
  gpu: create([]),
  userAgent: "node",
  hardwareConcurrency: 2,
  platform: "linux",
};
Object.defineProperty(globalThis, "navigator", { value, configurable: true });

/** Collects what `device` complains of; the function returned takes it. */
export function complaintsOf(device) {
  let found = [];
  device.addEventListener("uncapturederror", ({ error }) => found.push(error.message));
  device.lost.then(({ message }) => found.push(`device lost: ${message}`));
  return () => {
    const taken = found;
    found = [];
    return taken;
  };
}
