/** `@gutenye/ocr-node`, PP-OCRv4: lines of text that are drawn here, found and read. */
import { writeFileSync } from "node:fs";
import sharp from "sharp";
import { mark, report, timed } from "./measure.mjs";

// A font of 5 × 7 dots, as rows of bits.
const font = {
  E: [31, 16, 16, 30, 16, 16, 31],
  H: [17, 17, 17, 31, 17, 17, 17],
  I: [14, 4, 4, 4, 4, 4, 14],
  K: [17, 18, 20, 24, 20, 18, 17],
  L: [16, 16, 16, 16, 16, 16, 31],
  N: [17, 25, 21, 19, 17, 17, 17],
  O: [14, 17, 17, 17, 17, 17, 14],
  T: [31, 4, 4, 4, 4, 4, 4],
  1: [4, 12, 4, 4, 4, 4, 14],
  2: [14, 17, 1, 2, 4, 8, 31],
  " ": [0, 0, 0, 0, 0, 0, 0],
};

function drawn(lines, scale = 6) {
  const [width, height] = [640, 80 + lines.length * 12 * scale];
  const pixels = Buffer.alloc(width * height * 3, 255);
  for (const [row, line] of lines.entries())
    for (const [column, letter] of [...line].entries())
      for (const [y, bits] of font[letter].entries())
        for (let x = 0; x < 5; x++)
          if ((bits >> (4 - x)) & 1)
            for (let dy = 0; dy < scale; dy++)
              for (let dx = 0; dx < scale; dx++) {
                const px = 40 + (column * 6 + x) * scale + dx;
                const py = 40 + (row * 12 + y) * scale + dy;
                pixels.fill(20, 3 * (py * width + px), 3 * (py * width + px) + 3);
              }
  return { pixels, width, height };
}

const { pixels, width, height } = drawn(["HELLO KILN 12", "OTTO LIKE 21 TILE"]);
const png = await sharp(pixels, { raw: { width, height, channels: 3 } })
  .png()
  .toBuffer();
writeFileSync("text.png", png);
mark("drawMs");
const { default: Ocr } = await import("@gutenye/ocr-node");
mark("importMs");
const ocr = await Ocr.create();
mark("createMs");
const lines = await ocr.detect("text.png");
const values = lines.flatMap(({ mean, box }) => [mean, ...(box ?? []).flat()]);
const times = await timed(() => ocr.detect("text.png"), { times: 10, limitMs: 8000 });
report({ values, text: lines.map((l) => l.text).join("\n"), ...times });
