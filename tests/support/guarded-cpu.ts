/**
 * A device of the js target for tests on which no kernel reads or writes outside of its arrays: typed arrays drop such writes
 * and give undefined for such reads, silently, so each index in a kernel's text is checked, and arrays are as long as what
 * was asked for. What is freed is filled with 0xff.
 */
import type { Artifact, KernelText } from "@kiln-ml/artifact";
import { createCpuDevice, type Device } from "@kiln-ml/runtime";
import type { Driver } from "../../runtime/src/device.ts";
import type { Buffer as DeviceBuffer } from "../../runtime/src/heap.ts";

/**
 * The index, if the array has it. A load may be moved out of a loop that runs no times, and then reads an array of no
 * elements; nothing uses the value.
 */
const helper = `
function inside$(i, array, kernel, name, write) {
  if ((i >= 0 && i < array.length) || (array.length === 0 && !write)) return i;
  throw new Error("kernel " + kernel + (write ? " writes " : " reads ") + name + "[" + i + "], which has " + array.length + " elements");
}`;

/** The text of a kernel with each of its indices checked. */
export function fenced({ name, text, bindings }: KernelText): string {
  const local = [...text.matchAll(/(?:const|let) (\w+) = new \w+Array\(/g)].map((m) => m[1]!);
  const names = new Set([...bindings.map((b) => b.name), ...local]);
  return `${checked(text, name, names)}${helper}`;
}

function checked(text: string, kernel: string, names: ReadonlySet<string>): string {
  const start = /\b([A-Za-z_$][\w$]*)\[/g;
  let [out, done] = ["", 0];
  for (let m = start.exec(text); m !== null; m = start.exec(text)) {
    const array = m[1]!;
    if (!names.has(array)) continue;
    const from = start.lastIndex;
    const to = closing(text, from);
    const write = /^\]\s*([-+*/|&^%]?=)(?!=)/.test(text.slice(to, to + 8));
    const index = checked(text.slice(from, to), kernel, names);
    out += `${text.slice(done, from)}inside$(${index}, ${array}, "${kernel}", "${array}", ${write})`;
    done = to;
    start.lastIndex = to;
  }
  return out + text.slice(done);
}

/** The place of the bracket that closes the one before `from`. */
function closing(text: string, from: number): number {
  for (let [at, depth] = [from, 1]; at < text.length; at++) {
    if (text[at] === "[") depth++;
    if (text[at] === "]" && --depth === 0) return at;
  }
  throw new Error("a bracket is not closed");
}

/** A cpu device whose kernels are fenced. */
export function guardedCpuDevice(): Device {
  const device = createCpuDevice();
  const driver = device.driver as { -readonly [K in keyof Driver]: Driver[K] };
  const held = new WeakMap<DeviceBuffer, Uint8Array>();
  const load = driver.load.bind(driver);
  driver.allocate = (sizeBytes) => {
    const bytes = new Uint8Array(sizeBytes).fill(0xff);
    const buffer = driver.borrow(bytes)!;
    held.set(buffer, bytes);
    return buffer;
  };
  driver.release = (buffer) => {
    held.get(buffer)?.fill(0xff);
  };
  driver.load = (artifact: Artifact, kernels) =>
    load(
      { ...artifact, kernels: artifact.kernels.map((k) => ({ ...k, text: fenced(k) })) },
      kernels,
    );
  return device;
}
