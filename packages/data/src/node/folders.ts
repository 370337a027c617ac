/**
 * Folders with a folder for each class: pictures and texts, read when a sample is asked for. Names of files and classes are in the order
 * of their characters, so that an index means the same sample on every machine.
 */
import { readdirSync } from "node:fs";
import { extname, join } from "node:path";
import { ArtifactError, checkOptions, GraphError, type OptionNames } from "@kiln-ml/ir";
import type { Dataset } from "../dataset.ts";
import { cropImage, decodeImage, type Picture, resizeImage } from "../image.ts";
import { checkIndex, type Items, naming } from "../items.ts";
import { textOf } from "../text.ts";
import { bytesOf } from "./files.ts";

export interface ClassFolderOptions {
  /** The classes, in the order of their labels: those of the training set for a test set. By default the folders that there are. */
  readonly classes?: readonly string[];
}

export interface ImageFolderOptions extends ClassFolderOptions {
  /** All pictures are brought to this: a number for a square, or height and width. By default they must all be as the first. */
  readonly size?: number | readonly [height: number, width: number];
  /** How: "stretch" is the default; "crop" resizes the shorter side and takes the middle. */
  readonly fit?: "stretch" | "crop";
  /** 1 is grey, 3 is colour, 4 has alpha; 3 by default. */
  readonly channels?: 1 | 3 | 4;
}

const textOptions: OptionNames<ClassFolderOptions> = { classes: 1 };
const imageOptions: OptionNames<ImageFolderOptions> = { classes: 1, size: 1, fit: 1, channels: 1 };

interface Entry {
  /** Within the folder. */
  readonly name: string;
  readonly label: number;
}

interface Listed {
  readonly classes: readonly string[];
  readonly entries: readonly Entry[];
}

function listed(
  op: string,
  folder: string,
  known: readonly string[] | undefined,
  endings: readonly string[],
): Listed {
  const present = foldersOf(op, folder);
  const classes = known ?? present;
  const other = present.find((name) => !classes.includes(name));
  if (other !== undefined)
    throw new ArtifactError(
      `${op}: ${join(folder, other)}: class ${other} is not among ${classes.join(", ")}`,
    );
  const entries = present.flatMap((name) => {
    const files = readdirSync(join(folder, name))
      .filter((file) => endings.includes(extname(file).toLowerCase()))
      .sort();
    if (!files.length)
      throw new ArtifactError(
        `${op}: ${join(folder, name)}: the folder has no file that ends in ${endings.join(", ")}`,
      );
    return files.map((file) => ({ name: `${name}/${file}`, label: classes.indexOf(name) }));
  });
  return { classes, entries };
}

function foldersOf(op: string, folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    throw new ArtifactError(`${op}: ${folder}: cannot be read: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (!names.length)
    throw new ArtifactError(
      `${op}: ${folder}: has no folders\n  put the files of each class into a folder of its name`,
    );
  return names;
}

export interface TextSample {
  readonly text: string;
  readonly label: number;
}

export interface TextFolder extends Items<TextSample> {
  readonly classes: readonly string[];
}

/** The `.txt` files of a folder's folders, each of which is a class. */
export function textFolder(folder: string, options: ClassFolderOptions = {}): TextFolder {
  const { classes: known } = checkOptions("textFolder", options, textOptions);
  const { classes, entries } = listed("textFolder", folder, known, [".txt"]);
  return {
    classes,
    length: entries.length,
    name: (index) => join(folder, entries[index]!.name),
    async get(index) {
      const { name, label } = entries[checkIndex(index, entries.length)]!;
      const path = join(folder, name);
      return { text: textOf(await bytesOf(path), path), label };
    },
  };
}

export interface ImageFolder extends Dataset<readonly [Uint8Array, Int32Array]> {
  readonly classes: readonly string[];
}

/**
 * The `.png`, `.jpg` and `.jpeg` files of a folder's folders, each of which is a class: u8[height, width, channels] and i32 labels. A
 * picture is decoded when it is asked for; one that is damaged, or of another size where none is given, is named.
 */
export async function imageFolder(
  folder: string,
  options: ImageFolderOptions = {},
): Promise<ImageFolder> {
  const {
    classes: known,
    size,
    fit = "stretch",
    channels = 3,
  } = checkOptions("imageFolder", options, imageOptions);
  const target = typeof size === "number" ? ([size, size] as const) : size;
  if (target?.some((n) => !(Number.isInteger(n) && n > 0)))
    throw new GraphError(
      `imageFolder: size must be of integers of 1 or more, got ${target.join(", ")}`,
    );
  const { classes, entries } = listed("imageFolder", folder, known, [".png", ".jpg", ".jpeg"]);
  const read = async (index: number): Promise<Picture> => {
    const name = join(folder, entries[index]!.name);
    const picture = await decodeImage(await bytesOf(name), { name, channels });
    return target ? fitted(picture, target, fit) : picture;
  };
  const shape = target ? [...target, channels] : (await read(0)).shape;
  const [height, width] = shape as readonly number[];
  return {
    classes,
    length: entries.length,
    shapes: [shape, []],
    name: (index) => join(folder, entries[index]!.name),
    async gather(indices) {
      const sample = height! * width! * channels;
      const images = new Uint8Array(indices.length * sample);
      const labels = new Int32Array(indices.length);
      for (let i = 0; i < indices.length; i++) {
        const at = checkIndex(indices[i]!, entries.length);
        const { data, shape: own } = await read(at);
        if (own[0] !== height || own[1] !== width)
          throw naming(
            new ArtifactError(
              `${join(folder, entries[at]!.name)}: is ${own[0]} × ${own[1]}, the first picture ${height} × ${width}\n  pass a size that all are brought to`,
            ),
          );
        images.set(data, i * sample);
        labels[i] = entries[at]!.label;
      }
      return [images, labels];
    },
  };
}

function fitted(
  picture: Picture,
  [height, width]: readonly [number, number],
  fit: "stretch" | "crop",
): Picture {
  if (fit === "stretch") return resizeImage(picture, height, width);
  const [h, w] = picture.shape;
  const scale = Math.max(height / h, width / w);
  const covering = resizeImage(
    picture,
    Math.max(height, Math.round(h * scale)),
    Math.max(width, Math.round(w * scale)),
  );
  return cropImage(covering, height, width);
}
