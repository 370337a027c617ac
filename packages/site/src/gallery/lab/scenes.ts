/**
 * Pictures of things on a ground, painted here, with the mask of the things: what the U-Net learns
 * from.
 */

export interface Sample {
  /** RGBA, row by row. */
  readonly rgba: Uint8ClampedArray;
  /** RGBA too: opaque where a thing is. */
  readonly mask: Uint8ClampedArray;
}

const between = (low: number, high: number): number => low + (high - low) * Math.random();
const hsl = (hue: number, saturation: number, light: number): string =>
  `hsl(${hue} ${saturation}% ${light}%)`;

type Context = OffscreenCanvasRenderingContext2D;

const sheets = new Map<string, Context>();

/** One canvas a role and size: each sample is read before the next is painted. */
function sheet(role: string, side: number): Context {
  const key = `${role} ${side}`;
  let context = sheets.get(key);
  if (!context) {
    context = new OffscreenCanvas(side, side).getContext("2d", { willReadFrequently: true })!;
    sheets.set(key, context);
  }
  context.resetTransform();
  context.clearRect(0, 0, side, side);
  return context;
}

interface Ground {
  readonly hue: number;
  readonly light: number;
}

/** A pale or a dark ground, in gradients, with a shelf, stripes or specks. */
function paintGround(context: Context, side: number): Ground {
  const [hue, light] = [between(0, 360), Math.random() < 0.7 ? between(68, 94) : between(8, 26)];
  const saturation = between(0, 45);
  const shade = context.createLinearGradient(0, 0, between(0, side), side);
  shade.addColorStop(0, hsl(hue, saturation, light + between(-6, 6)));
  shade.addColorStop(1, hsl(hue + between(-15, 15), saturation, light + between(-14, 14)));
  context.fillStyle = shade;
  context.fillRect(0, 0, side, side);
  if (Math.random() < 0.5) {
    context.fillStyle = hsl(between(15, 45), between(15, 40), between(14, 50));
    context.fillRect(0, side * between(0.72, 0.9), side, side);
  }
  const kind = Math.random();
  if (kind < 0.35) {
    context.fillStyle = hsl(hue, saturation, light + (light > 50 ? -9 : 9));
    const step = between(4, 9);
    for (let x = 0; x < side; x += step) context.fillRect(x, 0, step / 3, side);
  } else if (kind < 0.6)
    for (let i = 0; i < 30; i++) {
      context.fillStyle = hsl(hue, saturation, light + between(-9, 9));
      context.fillRect(between(0, side), between(0, side), 1.5, 1.5);
    }
  return { hue, light };
}

/** Something round, lobed, angular, or like a pot, around the origin and of about the radius. */
function shape(radius: number): Path2D {
  const path = new Path2D();
  const kind = Math.random();
  if (kind < 0.3) path.ellipse(0, 0, radius, radius * between(0.5, 1), between(0, 3), 0, 7);
  else if (kind < 0.6) {
    const corners = Math.floor(between(5, 10));
    for (let i = 0; i <= corners; i++) {
      const r = radius * (i % corners === 0 ? 0.9 : between(0.6, 1.1));
      const a = (2 * Math.PI * i) / corners;
      path.lineTo(r * Math.cos(a), r * Math.sin(a));
    }
  } else if (kind < 0.75)
    path.roundRect(-radius * 0.7, -radius, radius * 1.4, radius * 2, radius * between(0, 0.6));
  else {
    const [neck, belly] = [radius * between(0.3, 0.6), radius * between(0.7, 1.1)];
    path.moveTo(-neck, -radius);
    path.bezierCurveTo(-neck, -radius / 3, -belly, -radius / 4, -belly, radius / 4);
    path.quadraticCurveTo(-belly * 0.7, radius, -neck, radius);
    path.lineTo(neck, radius);
    path.quadraticCurveTo(belly * 0.7, radius, belly, radius / 4);
    path.bezierCurveTo(belly, -radius / 4, neck, -radius / 3, neck, -radius);
  }
  path.closePath();
  return path;
}

export function scene(side: number): Sample {
  const [context, masked] = [sheet("picture", side), sheet("mask", side)];
  const ground = paintGround(context, side);
  const count = Math.floor(between(1, 4));
  for (let i = 0; i < count; i++) {
    const radius = side * between(0.1, 0.24);
    const path = shape(radius);
    const at = [between(radius, side - radius), between(radius, side - radius)] as const;
    const hue = ground.hue + between(70, 290);
    // What is as light as the ground differs from it in colour.
    const light = between(20, 72);
    const glaze = context.createLinearGradient(-radius, 0, radius, between(-radius, radius));
    glaze.addColorStop(0, hsl(hue, 60, light * 0.6));
    glaze.addColorStop(0.4, hsl(hue, 62, light + 10));
    glaze.addColorStop(1, hsl(hue, 60, light * 0.55));
    for (const [where, fill] of [
      [context, glaze],
      [masked, "#fff"],
    ] as const) {
      where.setTransform(1, 0, 0, 1, ...at);
      where.rotate(between(-0.01, 0.01));
      where.fillStyle = fill;
      where.fill(path);
      where.resetTransform();
    }
  }
  const read = (from: Context) => from.getImageData(0, 0, side, side).data;
  return { rgba: read(context), mask: read(masked) };
}
