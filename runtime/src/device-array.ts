/**
 * A tensor in device memory. It reads back only when asked, and gives its memory back when disposed
 * of or, if nobody does, when it is collected. It computes nothing.
 */
import { DeviceError, ShapeError, storageBytes } from "@kiln-ml/artifact";
import type { Device, Driver } from "./device.ts";
import type { Buffer } from "./heap.ts";
import {
  type Dtype,
  fromStorage,
  hostArray,
  numberAt,
  sizeOf,
  type TypedArray,
  toStorage,
} from "./host-array.ts";

/**
 * The memory of an array, with the number of its users: the array itself and every run that still
 * needs it.
 */
interface Holding {
  readonly driver: Driver;
  readonly buffer: Buffer;
  users: number;
}

function drop(holding: Holding): void {
  holding.users -= 1;
  // A lost device has freed everything already.
  if (holding.users === 0 && holding.driver.failure() === null)
    holding.driver.release(holding.buffer);
}

const collected = new FinalizationRegistry<Holding>(drop);

/** Values longer than this are not printed. */
const printedElements = 64;

export class DeviceArray {
  readonly device: Device;
  readonly dtype: Dtype;
  readonly shape: readonly number[];
  readonly #holding: Holding;
  #freed = false;

  /** @internal Takes over `buffer`, and `shape` if it is frozen. */
  constructor(device: Device, dtype: Dtype, shape: readonly number[], buffer: Buffer) {
    this.device = device;
    this.dtype = dtype;
    this.shape = Object.isFrozen(shape) ? shape : Object.freeze([...shape]);
    this.#holding = { driver: device.driver, buffer, users: 1 };
    collected.register(this, this.#holding, this);
  }

  get #buffer(): Buffer {
    return this.#holding.buffer;
  }

  /** Bytes of the elements as the device stores them. */
  get sizeBytes(): number {
    return sizeOf(this.shape) * storageBytes(this.dtype, this.device.target);
  }

  /** @internal Throws DeviceError if the array was freed. Says nothing of its device. */
  bufferFor(where: string): Buffer {
    if (this.#freed)
      throw new DeviceError(
        `${where}: ${this} was freed\n  keep it until the last use, or dispose of it later`,
      );
    return this.#holding.buffer;
  }

  /** @internal Writes elements as the device stores them. */
  put(storage: TypedArray): void {
    const written = this.device.driver.write(this.#holding.buffer, storage);
    // Until then nobody else may get the memory.
    if (written) written.finally(this.hold()).catch(() => {});
  }

  /**
   * @internal Keeps the memory until the returned function is called, even if the array is disposed
   * of.
   */
  hold(): () => void {
    const holding = this.#holding;
    holding.users += 1;
    return () => drop(holding);
  }

  /** @internal Throws DeviceError if the array was freed or its device lost. */
  check(where: string): void {
    if (this.#freed)
      throw new DeviceError(
        `${where}: ${this} was freed\n  keep it until the last use, or dispose of it later`,
      );
    this.device.check(where);
  }

  /** The elements, row-major, in a new typed array. Throws DeviceError if the array was freed. */
  async data(): Promise<TypedArray> {
    this.check("data");
    const size = sizeOf(this.shape);
    if (size === 0) return fromStorage(new ArrayBuffer(0), this.dtype, 0, this.device.target);
    const release = this.hold();
    try {
      const bytes = await this.device.driver.read(this.#holding.buffer, this.sizeBytes);
      return fromStorage(bytes, this.dtype, size, this.device.target);
    } finally {
      release();
    }
  }

  /**
   * As `data`, before it returns. Throws DeviceError where that is not to be had: on webgpu, and
   * while runs go on.
   */
  dataNow(): TypedArray {
    this.check("dataNow");
    const { device } = this;
    const size = sizeOf(this.shape);
    const bytes =
      size === 0 ? new ArrayBuffer(0) : device.driver.peek(this.#buffer, this.sizeBytes);
    if (bytes) return fromStorage(bytes, this.dtype, size, device.target);
    throw new DeviceError(`dataNow: the value of ${this} is not on the host yet\n  await data()`);
  }

  /**
   * Replaces the elements with a host array or numbers; runs called before see the old ones.
   * Throws ShapeError or DtypeError if they do not fit, DeviceError if the array was freed.
   */
  write(host: TypedArray | readonly number[]): void {
    this.check("write");
    const array = hostArray("write", host, this.dtype, this.shape);
    this.put(toStorage(array, this.dtype, this.device.target));
  }

  /** The value of an array of one element. Throws ShapeError if it has more, or none. */
  async item(): Promise<number> {
    if (sizeOf(this.shape) !== 1)
      throw new ShapeError(
        `item: array must have one element, [${this.shape}] has ${sizeOf(this.shape)}\n  read all of them with data()`,
      );
    return numberAt(await this.data(), this.dtype, 0);
  }

  /** Gives the memory back at once. Harmless the second time. */
  dispose(): void {
    if (this.#freed) return;
    this.#freed = true;
    collected.unregister(this);
    drop(this.#holding);
  }

  toString(): string {
    return `${this.dtype}[${this.shape}]`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    const { device } = this;
    if (this.#freed) return `${this} (freed)`;
    if (device.driver.failure() !== null) return `${this} (device lost)`;
    const size = sizeOf(this.shape);
    const bytes =
      size <= printedElements ? device.driver.peek(this.#holding.buffer, this.sizeBytes) : null;
    if (!bytes) return `${this} on ${device.kind}`;
    const array = fromStorage(bytes, this.dtype, size, device.target);
    return `${this} ${printValues(array, this.dtype, this.shape)}`;
  }
}

// Engines without explicit resource management have no such symbol.
if (Symbol.dispose)
  Object.defineProperty(DeviceArray.prototype, Symbol.dispose, {
    value: DeviceArray.prototype.dispose,
    configurable: true,
    writable: true,
  });

/** Nested brackets in row-major order, numbers to six significant digits. */
function printValues(array: TypedArray, dtype: Dtype, shape: readonly number[]): string {
  let i = 0;
  const print = (axis: number): string => {
    if (axis === shape.length) {
      const x = numberAt(array, dtype, i++);
      return dtype === "bool" ? String(x !== 0) : String(Number(x.toPrecision(6)));
    }
    return `[${Array.from({ length: shape[axis]! }, () => print(axis + 1)).join(",")}]`;
  };
  return print(0);
}
