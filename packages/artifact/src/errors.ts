/** The error classes, from the one leaf file of the IR that the runtime may contain. */
export {
  ArtifactError,
  checkOptions,
  DeviceError,
  DtypeError,
  GraphError,
  KilnError,
  type OptionNames,
  ShapeError,
} from "@kiln-ml/ir/errors";
