/**
 * The interface of `onnxruntime-common`, `-web` and `-node` 1.30, with Kiln behind it: an alias of a bundler or an override of npm is
 * all that a program needs. Named exports, and the same as the default.
 */
import { listSupportedBackends, registerBackend } from "./backend.ts";
import { env } from "./env.ts";
import { InferenceSession } from "./inference-session.ts";
import { Tensor } from "./tensor.ts";
import {
  TRACE,
  TRACE_EVENT_BEGIN,
  TRACE_EVENT_END,
  TRACE_FUNC_BEGIN,
  TRACE_FUNC_END,
} from "./trace.ts";

export type { Env } from "./env.ts";
export type { ExternalData, FileType, InferenceSessionFactory } from "./inference-session.ts";
export type {
  ImageFormat,
  ImageTensorLayout,
  TensorConstructor,
  TypedTensor,
} from "./tensor.ts";
export {
  env,
  InferenceSession,
  listSupportedBackends,
  registerBackend,
  Tensor,
  TRACE,
  TRACE_EVENT_BEGIN,
  TRACE_EVENT_END,
  TRACE_FUNC_BEGIN,
  TRACE_FUNC_END,
};

export default {
  env,
  InferenceSession,
  listSupportedBackends,
  registerBackend,
  Tensor,
  TRACE,
  TRACE_EVENT_BEGIN,
  TRACE_EVENT_END,
  TRACE_FUNC_BEGIN,
  TRACE_FUNC_END,
};
