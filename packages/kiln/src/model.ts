/** Models that run, without the compiler: what a page needs that opens an artifact. */
export { type OpenedModel, type OpenModelOptions, openModel } from "./open/open-model.ts";
export type { ModelFile, ModelSource, Progress } from "./open/source.ts";
export type { ModelResult, ModelTensor, ModelValue } from "./open/values.ts";
