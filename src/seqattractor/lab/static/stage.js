// The stage: truth, recall and hidden activity side by side, as frames or with all steps at once. A scene is what was recalled, or before
// learning the sequence itself; its panels are canvases that are drawn anew at every moment, with words for those who cannot see them.

import { unpack } from "./bits.js";
import { drawFrame, drawRaster } from "./canvas.js";
import { drawOverlap } from "./charts.js";
import { $, letter } from "./names.js";
import { sequenceAt } from "./state.js";

/** What is shown before anything is learned: the sequence, and the cue that stands still. */
export function previewScene(material, cue, start) {
  const { units, frames } = material;
  return {
    steps: frames, units, shape: material.shape, code: material.code, preview: true, lengths: material.lengths, loop: material.loop.length === 1 && material.loop[0],
    runs: [{ still: true, bits: cue, truth: material.bits, known: frames, truthAt: start * units, overlaps: [], caught: null }],
  };
}

/** What the server recalled. */
export function recallScene(material, answer) {
  const { units, shape, code } = material;
  const unpackRun = (run) => ({
    ...run,
    bits: unpack(run.bits, answer.rows * units),
    truth: unpack(run.truth, answer.rows * units), // what stands under "Truth"; nothing from row `known` on
    hidden: run.hidden && { units: run.hidden.units, bits: unpack(run.hidden.bits, answer.rows * run.hidden.units) },
  });
  return {
    steps: answer.rows, units, shape, code, cueRows: answer.cue_rows,
    runs: answer.runs.map(unpackRun),
  };
}

/** The panels of a scene, built once and drawn at each step. */
export class Stage {
  constructor() {
    this.scene = null;
    this.raster = false;
    this.panels = [];
  }

  /** Show another scene. */
  load(scene, raster) {
    this.scene = scene;
    this.raster = raster && !scene.preview;
    this.build();
  }

  build() {
    const { scene } = this;
    const box = $("panels");
    box.style.minHeight = "";
    box.classList.toggle("raster", this.raster);
    this.panels = [];
    const same = scene.runs.every((run) => run.truth.every((bit, i) => bit === scene.runs[0].truth[i]));
    scene.runs.forEach((run, k) => {
      const mark = letter(k, scene.runs.length, " ", "");
      if (!k || !same) this.panels.push({ kind: "truth", run, title: `Truth${same ? "" : mark}`, sign: "x(t)" });
      this.panels.push({ kind: "state", run, title: run.still ? "Corrupted cue" : `Recalled${mark}`, sign: run.still ? "ξ(0)" : "ξ(t)" });
      if (scene.code && !scene.preview && !this.raster) this.panels.push({ kind: "error", run, title: `Error${mark}`, sign: "ξ(t) − x(t)" });
      if (run.hidden) this.panels.push({ kind: "hidden", run, title: `Hidden${mark}`, sign: "ζ(t)" });
    });
    box.replaceChildren(...this.panels.map((panel) => {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      const name = document.createElement("b");
      name.textContent = panel.title;
      panel.says = document.createElement("span");
      panel.says.textContent = panel.sign;
      caption.append(name, " ", panel.says);
      panel.canvas = document.createElement("canvas");
      panel.canvas.setAttribute("role", "img");
      panel.canvas.dataset.panel = panel.kind;
      figure.append(caption, panel.canvas);
      return figure;
    }));
    this.measure();
  }

  /** Show nothing; the room is kept, so that the page does not jump. */
  clear() {
    const box = $("panels");
    if (this.panels.length) box.style.minHeight = `${box.offsetHeight}px`;
    this.scene = null;
    this.panels = [];
    box.replaceChildren();
    drawOverlap($("overlap"), [], 1, 0);
    $("overlap").setAttribute("aria-label", "Overlap with the truth: nothing is recalled yet");
  }

  /** Give the panels sizes that fill the width. */
  measure() {
    const box = $("panels");
    const width = box.clientWidth;
    const [rows, columns] = this.scene.shape;
    const aspect = Math.min(3, Math.max(0.5, columns / rows));
    for (const panel of this.panels) {
      panel.picture = null; // of another size, or in other colours
      if (panel.kind === "hidden") panel.shape = gridOf(panel.run.hidden.units, aspect);
      else panel.shape = this.scene.shape;
    }
    if (this.raster) {
      for (const panel of this.panels) {
        const units = panel.kind === "hidden" ? panel.run.hidden.units : this.scene.units;
        panel.width = width - 48;
        panel.height = panel.kind === "hidden" ? Math.min(110, Math.max(50, units)) : Math.min(240, Math.max(70, units * 6));
      }
    } else {
      const perRow = width < 560 && this.panels.length > 4 ? 3 : this.panels.length;
      const share = (width - 14 * (perRow - 1)) / perRow;
      const most = parseFloat(getComputedStyle(box).getPropertyValue("--frame")) || 200;
      const height = Math.min(most, (share * rows) / columns, share * 1.6);
      for (const panel of this.panels) Object.assign(panel, { height, width: (height * columns) / rows });
    }
    for (const panel of this.panels) {
      panel.canvas.style.width = `${panel.width}px`;
      panel.canvas.style.height = `${panel.height}px`;
    }
  }

  /** Draw one step. */
  draw(now) {
    const { scene } = this;
    if (!scene) return;
    for (const panel of this.panels) {
      if (this.raster) this.drawAll(panel, now);
      else this.drawOne(panel, now);
      if (panel.kind === "truth") panel.says.textContent = sayTruth(panel, now);
    }
    const ends = scene.preview ? ["frame 1", scene.loop ? "frame 1 again" : `frame ${scene.steps}`] : ["cue", `step ${scene.steps - scene.cueRows}`];
    drawOverlap($("overlap"), scene.preview ? [] : scene.runs, scene.steps, now, ends);
    $("overlap").setAttribute("aria-label", sayOverlaps(scene, now));
  }

  drawOne(panel, now) {
    drawFrame(panel.canvas, panel.width, panel.height, viewOf(panel, this.scene, now));
    panel.canvas.setAttribute("aria-label", describe(panel, this.scene, now));
  }

  drawAll(panel, now) {
    const { scene } = this;
    const { run } = panel;
    const common = { steps: scene.steps, units: scene.units, shown: scene.steps };
    const view = {
      truth: { ...common, bits: run.truth, shown: run.known },
      hidden: run.hidden && { ...common, ...run.hidden },
      state: { ...common, bits: run.bits, truth: run.truth, known: run.known },
    }[panel.kind];
    panel.picture = drawRaster(panel.canvas, panel.width, panel.height, view, now, panel.picture);
    panel.canvas.setAttribute("aria-label", `${panel.title}, all ${scene.steps} steps`);
  }
}

/** What a panel shows of a step, as `drawFrame` takes it. */
export function viewOf(panel, scene, now) {
  const { units, code } = scene;
  const { shape, run } = panel;
  const known = now < run.known;
  if (panel.kind === "truth") return { bits: known ? run.truth : null, at: now * units, units, shape, code };
  if (panel.kind === "hidden") return { bits: now < scene.cueRows - 1 ? null : run.hidden.bits, at: now * run.hidden.units, units: run.hidden.units, shape };
  if (run.still) return { bits: run.bits, at: 0, units, shape, truth: run.truth, truthAt: run.truthAt, code };
  return { bits: run.bits, at: now * units, units, shape, truth: known ? run.truth : null, truthAt: now * units, code, errors: panel.kind === "error" };
}

/** Rows and columns, of about the wanted proportions, for hidden neurons. */
function gridOf(units, aspect) {
  const columns = Math.max(1, Math.round(Math.sqrt(units * aspect)));
  return [Math.ceil(units / columns), columns];
}

/** What stands under "Truth": what the cue asks for, from a catch on what was caught, and nothing after the end of a sequence. */
function sayTruth({ run, sign }, now) {
  if (now >= run.known) return "(has ended)";
  return run.caught && now >= run.caught.since ? run.caught.label : sign;
}

/** Words for a row: of a recall the cue, then steps, of which the last row of the cue is 0; before that frames, of a loop the first again at the end. */
export function sayMoment(scene, now) {
  const { steps, cueRows, lengths } = scene;
  if (!scene.preview) {
    const step = now - cueRows + 1;
    return step < 0 ? `cue, frame ${now + 1} of ${cueRows}` : `step ${step} of ${steps - cueRows}`;
  }
  if (scene.loop) return now === steps - 1 ? "frame 1 again" : `frame ${now + 1} of ${steps - 1}`;
  return `frame ${now + 1} of ${steps}${lengths.length > 1 ? `, sequence ${sequenceAt(lengths, now).s + 1}` : ""}`;
}

/** The curve of overlaps in words, for those who cannot see it: how high it is at a moment. */
function sayOverlaps(scene, now) {
  if (scene.preview) return "Overlap with the truth: nothing is recalled yet";
  const all = scene.runs.map((run, k, runs) => `${letter(k, runs.length, "", " ")}${run.overlaps[now]?.toFixed(2) ?? "unknown"}`);
  return `Overlap with the truth, ${sayMoment(scene, now)}: ${all.join(", ")}`;
}

function describe(panel, scene, now) {
  if (scene.preview) return panel.kind === "truth" ? `${panel.title}, ${sayMoment(scene, now)}` : panel.title;
  if (["state", "error"].includes(panel.kind) && now < panel.run.known) {
    let wrong = 0;
    for (let i = now * scene.units; i < (now + 1) * scene.units; i++) wrong += panel.run.bits[i] !== panel.run.truth[i];
    return `${panel.title}, ${sayMoment(scene, now)}: ${wrong} of ${scene.units} units wrong`;
  }
  const what = panel.kind === "truth" ? ` ${sayTruth(panel, now)}` : "";
  return `${panel.title}${what}, ${sayMoment(scene, now)}`;
}
