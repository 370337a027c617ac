/** The table of layers, by family. A layer is one row; adding one is adding a row. */
import type { Row } from "@kiln-ml/onnx";
import { convolutionLayers } from "./convolution.ts";
import { coreLayers } from "./core.ts";
import { recurrentLayers } from "./recurrent.ts";

const others = [...coreLayers, ...convolutionLayers];

export const layerRows: readonly Row[] = [...others, ...recurrentLayers(others)];
