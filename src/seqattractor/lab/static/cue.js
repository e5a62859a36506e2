// The card in which the cue is corrupted: by hand, at random, covered, and with noise at every step. It changes `settings.cue` and draws
// the cue that the server made of it; what is flipped by hand is shown at once, before the server has answered.

import { drawFrame } from "./canvas.js";
import { slider } from "./controls.js";
import { $ } from "./names.js";
import { paintable } from "./paint.js";
import { changedSoon, isLoaded, lab, ordersInUse, rowOfCue, settings, units } from "./state.js";

/** Build the sliders for the sequence that is chosen; counts of its units and frames are known once it is loaded. */
export function buildCueFields() {
  const frames = isLoaded() ? lab.material.frames : 2;
  const percent = (value) => (isLoaded() ? `${value} % (${units(value)})` : `${value} %`);
  const set = (name) => (value) => { settings.cue[name] = value; changedSoon(); };
  const start = (value) => { Object.assign(settings.cue, { start: value - 1, painted: [] }); changedSoon(); };
  $("cue-fields").replaceChildren(
    slider({ label: "Random flips", low: 0, high: 50, value: settings.cue.flips, say: percent, change: set("flips") }),
    slider({ label: "Covered", low: 0, high: 90, step: 5, value: settings.cue.occlusion, say: (v) => `${v} %`, change: set("occlusion") }),
    slider({ label: "Noise per step", low: 0, high: 30, value: settings.cue.noise, say: percent, change: set("noise") }),
    slider({ label: "Start at frame", low: 1, high: Math.max(1, frames - 1), value: settings.cue.start + 1, change: start }),
  );
}

/** How many units a pixel has: several in grey and colour. */
const unitsPerPixel = () => (lab.material?.code ? lab.material.code.bits * lab.material.code.channels : 1);

const painter = paintable(
  $("cue-canvas"),
  () => ({ rows: lab.material?.shape[0] ?? 1, columns: lab.material?.shape[1] ?? 1, units: (lab.material?.units ?? 0) / unitsPerPixel() }),
  (pixel) => {
    if (!lab.cueBits) return;
    const painted = new Set(settings.cue.painted);
    const each = unitsPerPixel();
    for (let unit = pixel * each; unit < (pixel + 1) * each; unit++) { // all units of a pixel, which makes a negative of it
      if (!painted.delete(unit)) painted.add(unit);
      lab.cueBits[unit] ^= 1;
    }
    settings.cue.painted = [...painted].sort((a, b) => a - b);
    drawCue();
    changedSoon();
  },
  () => drawCue(),
);

/** Draw the corrupted cue, if it is known; what differs from the truth is marked. */
export function drawCue() {
  const canvas = $("cue-canvas");
  const { material, cueBits } = lab;
  if (!canvas.clientWidth) return;
  if (!material || !cueBits) {
    canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
    return;
  }
  const [rows, columns] = material.shape;
  canvas.style.maxWidth = `${(240 * columns) / rows}px`;
  const width = canvas.clientWidth;
  const height = (width * rows) / columns;
  canvas.style.height = `${height}px`;
  const place = rowOfCue(Math.max(...ordersInUse()) - 1) * material.units;
  const view = { bits: cueBits, at: 0, units: material.units, shape: material.shape, truth: material.bits, truthAt: place, cursor: painter.cursor, code: material.code };
  drawFrame(canvas, width, height, view);
}
