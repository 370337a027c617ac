/** What part of a picture is in sight: panned by dragging, zoomed by the wheel, two fingers or keys. */

export interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const [least, readable, most] = [0.04, 0.62, 3];
/** Pixels at the top that buttons lie over. */
const toolbar = 52;

export class Camera {
  x = 0;
  y = 0;
  scale = 1;
  readonly #element: Element;
  readonly #changed: () => void;

  constructor(element: SVGSVGElement, changed: () => void) {
    this.#element = element;
    this.#changed = changed;
    element.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { left, top } = element.getBoundingClientRect();
        if (event.ctrlKey || !event.shiftKey)
          this.zoom(Math.exp(-event.deltaY / 400), event.clientX - left, event.clientY - top);
        else this.pan(-event.deltaX - event.deltaY, 0);
      },
      { passive: false },
    );
    this.#drag(element);
  }

  #drag(element: SVGSVGElement): void {
    const held = new Map<number, { x: number; y: number }>();
    element.addEventListener("pointerdown", (event) => {
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    });
    const end = (event: PointerEvent): void => {
      held.delete(event.pointerId);
      element.classList.remove("dragged");
    };
    element.addEventListener("pointermove", (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
      if (!element.classList.contains("dragged") && Math.hypot(dx, dy) < 4) return;
      element.classList.add("dragged");
      element.setPointerCapture(event.pointerId);
      const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
      held.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (!other) return this.pan(dx, dy);
      const { left, top } = element.getBoundingClientRect();
      const apart = (p: { x: number; y: number }) => Math.hypot(p.x - other.x, p.y - other.y);
      const [x, y] = [(event.clientX + other.x) / 2 - left, (event.clientY + other.y) / 2 - top];
      this.zoom(apart({ x: event.clientX, y: event.clientY }) / Math.max(1, apart(before)), x, y);
    });
    for (const name of ["pointerup", "pointercancel"] as const) element.addEventListener(name, end);
  }

  get size(): { readonly width: number; readonly height: number } {
    const { clientWidth: width, clientHeight: height } = this.#element;
    return { width: width || 800, height: height || 600 };
  }

  /** The part of the picture that is in sight. */
  get frame(): Frame {
    const { width, height } = this.size;
    return {
      x: -this.x / this.scale,
      y: -this.y / this.scale,
      width: width / this.scale,
      height: height / this.scale,
    };
  }

  /** Whether texts in the picture can be read. */
  get isReadable(): boolean {
    return this.scale >= readable;
  }

  pan(dx: number, dy: number): void {
    this.x += dx;
    this.y += dy;
    this.#changed();
  }

  zoom(by: number, x = this.size.width / 2, y = this.size.height / 2): void {
    const scale = Math.min(most, Math.max(least, this.scale * by));
    this.x = x - ((x - this.x) * scale) / this.scale;
    this.y = y - ((y - this.y) * scale) / this.scale;
    this.scale = scale;
    this.#changed();
  }

  /** All of a picture, but never larger than life; as much of a tall one as can be read, from its top. */
  fit(width: number, height: number): void {
    const own = this.size;
    const whole = Math.min((own.width - 32) / width, (own.height - toolbar - 16) / height);
    this.scale = Math.min(1, Math.max(whole, Math.min(readable, (own.width - 32) / width), least));
    this.x = (own.width - width * this.scale) / 2;
    this.y = Math.max(toolbar, (own.height - height * this.scale) / 2);
    this.#changed();
  }

  /** Brings a box into the middle, readable. */
  center({ x, y, width, height }: Frame): void {
    const own = this.size;
    this.scale = Math.max(this.scale, 0.8);
    this.x = own.width / 2 - (x + width / 2) * this.scale;
    this.y = own.height / 2 - (y + height / 2) * this.scale;
    this.#changed();
  }
}
