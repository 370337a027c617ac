/**
 * Files and folders as data sets, for Node: opened as all files of Kiln are, regular ones only, so that a pipe cannot hang a reader. A
 * page never imports this; it gives the readers the bytes that it has.
 */
export {
  type FileOptions,
  readCsvFile,
  readEdfFile,
  readJsonLinesFile,
  readWavFile,
} from "./files.ts";
export {
  type ClassFolderOptions,
  type ImageFolder,
  type ImageFolderOptions,
  imageFolder,
  type TextFolder,
  type TextSample,
  textFolder,
} from "./folders.ts";
