// Drawing frames by hand on a grid. Frames that are drawn here become a sequence of the kind "frames", like those of a file, which a link
// can carry; a new drawing begins with a ball that bounces around.

import { pack, unpack } from "./bits.js";
import { drawFrame } from "./canvas.js";
import { $ } from "./names.js";
import { paintable } from "./paint.js";

const MOST = 40;
const KEPT = "seqattractor-drawing"; // the name under which the tab remembers it

/** The editor of frames; calls `changed` with a sequence in the form that the server takes. */
export class Drawing {
  constructor(changed) {
    this.changed = changed;
    this.size = 12;
    this.frames = example(this.size);
    this.at = 0;
    this.canvas = $("drawing-canvas");
    let value = 1;
    this.painter = paintable(
      this.canvas,
      () => ({ rows: this.size, columns: this.size, units: this.size ** 2 }),
      (unit, first) => {
        if (first) value = 1 - this.frames[this.at][unit];
        this.frames[this.at][unit] = value;
        this.tell();
      },
      () => this.draw(),
    );
    $("draw-previous").onclick = () => this.go(this.at - 1);
    $("draw-next").onclick = () => this.go(this.at + 1);
    $("draw-copy").onclick = () => {
      if (this.frames.length >= MOST) return;
      this.frames.splice(this.at + 1, 0, this.frames[this.at].slice());
      this.go(this.at + 1);
    };
    $("draw-remove").onclick = () => {
      if (this.frames.length <= 2) return;
      this.frames.splice(this.at, 1);
      this.go(Math.min(this.at, this.frames.length - 1));
    };
    $("draw-clear").onclick = () => { this.frames[this.at].fill(0); this.tell(); };
    $("draw-loop").onchange = () => this.tell();
    $("draw-size").onchange = () => {
      const size = Number($("draw-size").value);
      this.frames = this.frames.map((frame) => resized(frame, this.size, size));
      this.size = size;
      this.tell();
    };
    this.remembered();
  }

  /** Show another frame; one after the last is new and empty. */
  go(at) {
    if (at === this.frames.length && at < MOST) this.frames.push(new Uint8Array(this.size ** 2));
    this.at = Math.max(0, Math.min(at, this.frames.length - 1));
    this.tell();
  }

  tell() {
    this.draw();
    const sequence = this.sequence();
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(sequence));
    } catch { /* it is in the link, too, while it is shown */ }
    this.changed(sequence);
  }

  /** Take over what was drawn in this tab before the page was loaded again. */
  remembered() {
    try {
      this.restore(JSON.parse(sessionStorage.getItem(KEPT)));
    } catch { /* nothing was drawn */ }
  }

  draw() {
    const side = this.canvas.clientWidth;
    const full = this.frames.length >= MOST;
    $("draw-number").value = `Frame ${this.at + 1} of ${this.frames.length}${full ? ", the most" : ""}`;
    $("draw-copy").disabled = full;
    $("draw-next").disabled = full && this.at === this.frames.length - 1;
    $("draw-previous").disabled = this.at === 0;
    $("draw-remove").disabled = this.frames.length <= 2;
    this.canvas.setAttribute("aria-label", `Frame ${this.at + 1}. Click or drag to draw; arrow keys move, space draws.`);
    if (!side) return;
    this.canvas.style.height = `${side}px`;
    const view = { bits: this.frames[this.at], at: 0, units: this.size ** 2, shape: [this.size, this.size], cursor: this.painter.cursor };
    drawFrame(this.canvas, side, side, view);
  }

  /** The frames as the server takes them; a closed loop ends with its first frame. */
  sequence() {
    const loop = $("draw-loop").checked;
    const frames = loop ? [...this.frames, this.frames[0]] : this.frames;
    const bits = new Uint8Array(frames.length * this.size ** 2);
    frames.forEach((frame, t) => bits.set(frame, t * frame.length));
    return { name: "frames", shape: [this.size, this.size], units: this.size ** 2, lengths: [frames.length], kind: "pictures", bits: pack(bits) };
  }

  /** Take over a sequence that was drawn before, from a link. */
  restore(sequence) {
    const units = sequence.units;
    const size = Math.round(Math.sqrt(units));
    if (size * size !== units || size > 24 || sequence.code) return false;
    const count = sequence.lengths[0];
    const bits = unpack(sequence.bits, count * units);
    const frames = Array.from({ length: count }, (_, t) => bits.slice(t * units, (t + 1) * units));
    const loop = frames.length > 2 && frames[0].every((bit, i) => bit === frames[count - 1][i]);
    if (loop) frames.pop();
    this.size = size;
    this.frames = frames;
    this.at = Math.min(this.at, frames.length - 1);
    $("draw-loop").checked = loop;
    $("draw-size").value = String(size);
    return true;
  }
}

/** A frame on another grid: each unit has the value of the one in its place. */
function resized(frame, from, to) {
  const at = (k) => Math.floor(((k + 0.5) * from) / to);
  return Uint8Array.from({ length: to * to }, (_, i) => frame[at(Math.floor(i / to)) * from + at(i % to)]);
}

/** A ball that bounces around the grid, to begin with. */
function example(size) {
  const frames = [];
  const steps = 10;
  for (let t = 0; t < steps; t++) {
    const turn = (2 * Math.PI * t) / steps;
    const x = size * (0.5 + 0.3 * Math.sin(turn)), y = size * (0.5 - 0.3 * Math.cos(turn));
    const frame = new Uint8Array(size * size);
    for (let i = 0; i < size * size; i++) {
      if (Math.hypot((i % size) + 0.5 - x, Math.floor(i / size) + 0.5 - y) < size * 0.16) frame[i] = 1;
    }
    frames.push(frame);
  }
  return frames;
}
