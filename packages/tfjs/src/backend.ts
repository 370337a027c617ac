/**
 * The backend: tensors of TensorFlow.js as values of a recorder, strings and complex numbers beside
 * them. Computes nothing itself.
 */
import {
  type BackendTimingInfo,
  type BackendValues,
  backend_util,
  DataStorage,
  type DataType,
  engine,
  KernelBackend,
  type TensorInfo,
  util,
} from "@tensorflow/tfjs-core";
import type { Dtype, HostArray } from "kiln-ml/ir";
import type { ProgramDevice } from "kiln-ml/programs";
import { Recorder } from "./recorder.ts";
import { dtypes, typeOf, type Value } from "./value.ts";

type DataId = TensorInfo["dataId"];

/** What a data id stands for. */
type Stored = { refs: number } & (
  | { readonly value: Value }
  | { readonly strings: Uint8Array[] }
  | { readonly real: TensorInfo; readonly imag: TensorInfo }
);

const tfjsDtypes: Readonly<Partial<Record<Dtype, DataType>>> = {
  f32: "float32",
  i32: "int32",
  bool: "bool",
};

export const dtypeOf = (dtype: DataType): Dtype => dtypes[dtype]!;

export class KilnBackend extends KernelBackend {
  readonly recorder: Recorder;
  readonly data: DataStorage<Stored>;
  /** How often a kernel ran on the cpu backend, by name. */
  readonly fallbacks = new Map<string, number>();

  constructor(device: ProgramDevice) {
    super();
    this.recorder = new Recorder(device);
    this.data = new DataStorage<Stored>(this, engine());
  }

  override write(values: BackendValues, shape: number[], dtype: DataType): DataId {
    const id = {};
    this.#put(id, values, shape, dtype, 1);
    return id;
  }

  override move(
    id: DataId,
    values: BackendValues,
    shape: number[],
    dtype: DataType,
    refs: number,
  ): void {
    this.#put(id, values, shape, dtype, refs);
  }

  #put(id: DataId, values: BackendValues, shape: number[], dtype: DataType, refs: number): void {
    if (dtype === "string") this.data.set(id, { refs, strings: values as Uint8Array[] });
    else if (dtype === "complex64") {
      const parts = backend_util.splitRealAndImagArrays(values as Float32Array);
      const [real, imag] = [parts.real, parts.imag].map((part): TensorInfo => {
        return { dataId: this.write(part, shape, "float32"), shape, dtype: "float32" };
      });
      this.data.set(id, { refs, real: real!, imag: imag! });
    } else {
      const host = hostOf(values as HostArray, dtype);
      this.#hold(id, this.recorder.upload(host, typeOf(dtypeOf(dtype), shape)), refs);
    }
  }

  #hold(id: DataId, value: Value, refs: number): void {
    value.tensors += 1;
    this.data.set(id, { refs, value });
  }

  /** A tensor of a value, whose data id is new. */
  infoOf(value: Value, shape: readonly number[] = value.type.shape): TensorInfo {
    const dataId = {};
    this.#hold(dataId, value, 1);
    return { dataId, shape: [...shape], dtype: tfjsDtypes[value.type.dtype]! };
  }

  /** A complex tensor, which takes its parts over. */
  complexOf(real: TensorInfo, imag: TensorInfo): TensorInfo {
    const dataId = {};
    this.data.set(dataId, { refs: 1, real, imag });
    return { dataId, shape: [...real.shape], dtype: "complex64" };
  }

  /** The value of a tensor that is neither of strings nor complex. */
  valueAt(info: TensorInfo): Value {
    const stored = this.data.get(info.dataId);
    if ("value" in stored) return stored.value;
    throw new TypeError(`kiln: a tensor of ${info.dtype} has no value on a device`);
  }

  /** The parts of a complex tensor. */
  partsOf(info: TensorInfo): { readonly real: TensorInfo; readonly imag: TensorInfo } {
    const stored = this.data.get(info.dataId);
    if ("real" in stored) return stored;
    throw new TypeError(`kiln: a tensor of ${info.dtype} has no imaginary part`);
  }

  /** The same data id once more, under another shape. */
  shared(info: TensorInfo, shape: readonly number[] = info.shape): TensorInfo {
    this.incRef(info.dataId);
    return { dataId: info.dataId, shape: [...shape], dtype: info.dtype };
  }

  override async read(id: DataId): Promise<BackendValues> {
    const stored = this.data.get(id);
    if ("strings" in stored) return stored.strings;
    if ("value" in stored) return (await this.recorder.read(stored.value)) as BackendValues;
    const [real, imag] = await Promise.all([
      this.read(stored.real.dataId),
      this.read(stored.imag.dataId),
    ]);
    return backend_util.mergeRealAndImagArrays(real as Float32Array, imag as Float32Array);
  }

  override readSync(id: DataId): BackendValues {
    const stored = this.data.get(id);
    if ("strings" in stored) return stored.strings;
    if ("value" in stored) return this.recorder.readNow(stored.value) as BackendValues;
    const [real, imag] = [stored.real, stored.imag].map((part) => this.readSync(part.dataId));
    return backend_util.mergeRealAndImagArrays(real as Float32Array, imag as Float32Array);
  }

  override refCount(id: DataId): number {
    return this.data.has(id) ? this.data.get(id).refs : 0;
  }

  override incRef(id: DataId): void {
    this.data.get(id).refs += 1;
  }

  override disposeData(id: DataId, force = false): boolean {
    if (!this.data.has(id)) return true;
    const stored = this.data.get(id);
    stored.refs -= 1;
    if (!force && stored.refs > 0) return false;
    if ("value" in stored) this.recorder.drop(stored.value);
    else if ("real" in stored)
      for (const part of [stored.real, stored.imag]) this.disposeData(part.dataId, true);
    this.data.delete(id);
    return true;
  }

  override numDataIds(): number {
    return this.data.numDataIds();
  }

  /** What tensors hold is counted by the engine; this is what the device holds for them. */
  override memory(): { unreliable: boolean; numBytesOnDevice: number } {
    const { live } = this.recorder.device.device.memory();
    return { unreliable: false, numBytesOnDevice: live };
  }

  override async time(f: () => void): Promise<BackendTimingInfo> {
    const before = this.recorder.flush();
    // Before anything is awaited: the caller goes on with what it made.
    f();
    await before;
    const start = util.now();
    await this.recorder.flush();
    return { kernelMs: util.now() - start };
  }

  override timerAvailable(): boolean {
    return true;
  }

  override floatPrecision(): 16 | 32 {
    return 32;
  }

  override epsilon(): number {
    return 1e-7;
  }

  override dispose(): void {
    this.recorder.dispose();
  }
}

/** Values as the dtype is stored; programs give numbers of any kind. */
function hostOf(values: HostArray | readonly number[], dtype: DataType): HostArray {
  const Form = dtype === "float32" ? Float32Array : dtype === "int32" ? Int32Array : Uint8Array;
  return values instanceof Form ? values : Form.from(values as ArrayLike<number>);
}
