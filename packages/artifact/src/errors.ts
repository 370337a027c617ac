/** The error classes, from the one leaf file of the IR that the runtime may contain. */
export {
  ArtifactError,
  DeviceError,
  DtypeError,
  GraphError,
  KilnError,
  ShapeError,
} from "@kiln-ml/ir/errors";
