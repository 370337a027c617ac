/**
 * What sessions throw: errors that carry ONNX Runtime's codes, which programs read from the message, with our own reason as the cause.
 */
import type { KilnError } from "kiln-ml/ir";

/** Status codes of ONNX Runtime (`OrtErrorCode`). */
export const codes = {
  FAIL: 1,
  INVALID_ARGUMENT: 2,
  NO_SUCHFILE: 3,
  RUNTIME_EXCEPTION: 6,
  INVALID_PROTOBUF: 7,
  NOT_IMPLEMENTED: 9,
  INVALID_GRAPH: 10,
  EP_FAIL: 11,
} as const;

export type CodeName = keyof typeof codes;

/** An error of a session. `errorCode` is ONNX Runtime's number, which also stands in the message. */
export class SessionError extends Error {
  override name = "SessionError";
  readonly errorCode: number;

  constructor(doing: string, code: CodeName, reason: string, options?: ErrorOptions) {
    super(`${doing} ERROR_CODE: ${codes[code]}, ERROR_MESSAGE: ${reason}`, options);
    this.errorCode = codes[code];
  }
}

export const notCreated = "Can't create a session.";
export const notRun = "failed to call OrtRun().";

/** What an error of Kiln is called when a model is read. */
const whenRead: Readonly<Record<string, CodeName>> = {
  ArtifactError: "INVALID_PROTOBUF",
  GraphError: "NOT_IMPLEMENTED",
  ShapeError: "INVALID_GRAPH",
  DtypeError: "INVALID_GRAPH",
  DeviceError: "EP_FAIL",
};

/** And when it runs. */
const whenRun: Readonly<Record<string, CodeName>> = {
  ShapeError: "RUNTIME_EXCEPTION",
  DtypeError: "RUNTIME_EXCEPTION",
  GraphError: "RUNTIME_EXCEPTION",
  DeviceError: "EP_FAIL",
};

const named = (table: Readonly<Record<string, CodeName>>, error: unknown): CodeName | undefined =>
  error instanceof Error && Object.hasOwn(table, error.name) ? table[error.name] : undefined;

/** An error of Kiln as one of a session; any other as it is. */
export function asSessionError(doing: string, error: unknown): unknown {
  const code = named(doing === notCreated ? whenRead : whenRun, error);
  if (code === undefined) return error;
  return new SessionError(doing, code, (error as KilnError).message, { cause: error });
}
