/** Arrays that live on the engine's devices, by their numbers; and values of the host as bytes. */
import { bytesOf, type Dtype, fromHost, type HostArray, ShapeError, toHost } from "@kiln-ml/ir";
import type { ExternalArray } from "kiln-ml";
import type { Answer, Frame, Request } from "./protocol.ts";

/** What holds arrays. */
export interface Holder {
  request(request: Request, parts?: readonly Uint8Array[]): Promise<Frame<Answer>>;
  /** Rejects with what the last run met. */
  settled(): Promise<void>;
  free(id: number): void;
}

const sizeOf = (shape: readonly number[]): number => shape.reduce((a, b) => a * b, 1);

/** The bytes of a host array, or of numbers. Throws ShapeError if there are more or fewer. */
export function bytesOfHost(
  op: string,
  host: HostArray | readonly number[],
  dtype: Dtype,
  shape: readonly number[],
): Uint8Array {
  const array = Array.isArray(host) ? toHost(dtype, host) : (host as HostArray);
  if (array.length !== sizeOf(shape))
    throw new ShapeError(
      `${op}: ${array.length} elements for [${shape}]\n  give as many as the shape has`,
    );
  return new Uint8Array(array.buffer as ArrayBuffer, array.byteOffset, array.byteLength);
}

/** An array on the engine's devices, by its number. */
export class XlaArray implements ExternalArray {
  readonly device: Holder;
  readonly id: number;
  readonly dtype: Dtype;
  readonly shape: readonly number[];

  constructor(device: Holder, id: number, dtype: Dtype, shape: readonly number[]) {
    this.device = device;
    this.id = id;
    this.dtype = dtype;
    this.shape = shape;
  }

  get sizeBytes(): number {
    return sizeOf(this.shape) * bytesOf(this.dtype);
  }

  async data(): Promise<HostArray> {
    await this.device.settled();
    const { parts } = await this.device.request({ op: "get", id: this.id });
    const form = toHost(this.dtype, []).constructor as new (bytes: ArrayBufferLike) => HostArray;
    return new form(parts[0]!.buffer);
  }

  async item(): Promise<number> {
    if (sizeOf(this.shape) !== 1)
      throw new ShapeError(
        `item: array must have one element, [${this.shape}] has ${sizeOf(this.shape)}\n  read all of them with data()`,
      );
    return fromHost(this.dtype, await this.data())[0]!;
  }

  dispose(): void {
    this.device.free(this.id);
  }

  toString(): string {
    return `${this.dtype}[${this.shape}]`;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `${this} on xla`;
  }
}
