/** A picture for inputs that take one, until another is dropped: a pot on a shelf, drawn here. */

export function sampleImage(side: number): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  canvas.width = side;
  canvas.height = side;
  const context = canvas.getContext("2d")!;
  context.scale(side / 100, side / 100);
  const wall = context.createLinearGradient(0, 0, 100, 80);
  wall.addColorStop(0, "#f4e7d2");
  wall.addColorStop(1, "#c9b394");
  context.fillStyle = wall;
  context.fillRect(0, 0, 100, 100);
  context.fillStyle = "#6b4a35";
  context.fillRect(0, 80, 100, 4);
  context.fillStyle = "#54392a";
  context.fillRect(0, 84, 100, 16);
  pot(context);
  bowl(context);
  return canvas;
}

function pot(context: CanvasRenderingContext2D): void {
  const glaze = context.createLinearGradient(18, 0, 62, 0);
  glaze.addColorStop(0, "#7c2f16");
  glaze.addColorStop(0.35, "#dd7a43");
  glaze.addColorStop(1, "#5c2412");
  context.fillStyle = glaze;
  context.beginPath();
  context.moveTo(32, 20);
  context.bezierCurveTo(34, 36, 12, 40, 18, 62);
  context.bezierCurveTo(21, 74, 28, 80, 32, 80);
  context.lineTo(50, 80);
  context.bezierCurveTo(56, 80, 62, 74, 64, 62);
  context.bezierCurveTo(68, 40, 48, 36, 50, 20);
  context.fill();
  context.fillStyle = "#3a160b";
  context.beginPath();
  context.ellipse(41, 20, 9.5, 2.6, 0, 0, 2 * Math.PI);
  context.fill();
  context.strokeStyle = "#f3d9b8";
  context.lineWidth = 1.4;
  for (const y of [50, 54, 58]) {
    context.beginPath();
    context.ellipse(41, y, 23, 4, 0, 0.15, Math.PI - 0.15);
    context.stroke();
  }
}

function bowl(context: CanvasRenderingContext2D): void {
  const glaze = context.createLinearGradient(68, 0, 96, 0);
  glaze.addColorStop(0, "#2d5a63");
  glaze.addColorStop(0.4, "#79b1b3");
  glaze.addColorStop(1, "#1f444c");
  context.fillStyle = glaze;
  context.beginPath();
  context.moveTo(67, 62);
  context.bezierCurveTo(68, 74, 76, 80, 78, 80);
  context.lineTo(88, 80);
  context.bezierCurveTo(92, 80, 97, 72, 97, 62);
  context.fill();
  context.fillStyle = "#173338";
  context.beginPath();
  context.ellipse(82, 62, 15, 3.4, 0, 0, 2 * Math.PI);
  context.fill();
}
