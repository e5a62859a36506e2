// The strip: the first steps of a recall side by side, each as a frame, so that one sees at a glance how it finds its way.
// It fills as the recall plays; a click goes to a step.

import { drawFrame, palette, prepare } from "./canvas.js";
import { $ } from "./names.js";

const GAP = 6, MOST = 12; // CSS pixels between frames; frames at most

/** Where the frames of a scene lie: {first, count, width, height, rows}; null where there is nothing to show. */
function layout(scene, canvas) {
  if (!scene || !canvas.clientWidth) return null;
  const rows = scene.runs.length;
  const [high, wide] = scene.shape;
  const height = (canvas.clientHeight - GAP * (rows - 1)) / rows;
  const width = Math.min((height * wide) / high, 2.2 * height);
  const first = scene.preview ? 0 : scene.cueRows - 1;
  const count = Math.max(1, Math.min(MOST, scene.steps - first, Math.floor((canvas.clientWidth + GAP) / (width + GAP))));
  return { first, count, width, height, rows };
}

/** The strip of one scene at a time. */
export class Strip {
  constructor(go) {
    this.canvas = $("strip");
    this.scene = null;
    this.canvas.onclick = (event) => {
      const place = layout(this.scene, this.canvas);
      if (!place) return;
      const box = this.canvas.getBoundingClientRect();
      const k = Math.floor((event.clientX - box.left) / (place.width + GAP));
      if (k < place.count) go(place.first + k);
    };
  }

  /** Show a scene, or nothing; `now` is the row that is on the stage. */
  draw(scene, now) {
    const place = layout(scene, this.canvas);
    if (!place) {
      this.scene = null;
      prepare(this.canvas, this.canvas.clientWidth, this.canvas.clientHeight);
      return;
    }
    if (this.scene !== scene || this.size !== `${this.canvas.clientWidth} ${this.canvas.clientHeight} ${palette()("paper")}`) this.paint(scene, place);
    const { first, count, width, height, rows } = place;
    const context = prepare(this.canvas, this.canvas.clientWidth, this.canvas.clientHeight);
    for (let k = 0; k < count; k++) {
      const x = k * (width + GAP);
      context.globalAlpha = first + k <= now || scene.preview ? 1 : 0.18; // what is still to come is faint
      for (let r = 0; r < rows; r++) context.drawImage(this.cells[r][k], x, r * (height + GAP), width, height);
      context.globalAlpha = 1;
      if (first + k !== now) continue;
      context.strokeStyle = palette()("accent");
      context.lineWidth = 2.5;
      context.strokeRect(x + 1, 1, width - 2, this.canvas.clientHeight - 2);
    }
  }

  /** Paint the frames, once for each scene and size. */
  paint(scene, { first, count, width, height }) {
    this.scene = scene;
    this.size = `${this.canvas.clientWidth} ${this.canvas.clientHeight} ${palette()("paper")}`;
    const { units, shape, code } = scene;
    this.cells = scene.runs.map((run) => Array.from({ length: count }, (_, k) => {
      const at = (first + k) * units;
      const known = !scene.preview && first + k < run.known;
      const cell = new OffscreenCanvas(1, 1);
      drawFrame(cell, width, height, { bits: scene.preview ? run.truth : run.bits, at, units, shape, truth: known ? run.truth : null, truthAt: at, code });
      return cell;
    }));
    const what = scene.preview ? `The first ${count} frames of the sequence` : `The cue and the first ${count - 1} steps${scene.runs.length > 1 ? " of A, and of B below" : ""}`;
    this.canvas.setAttribute("aria-label", what);
  }
}
