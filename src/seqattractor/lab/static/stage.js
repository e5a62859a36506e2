// The stage: truth, recall and hidden activity side by side, as frames or with all steps at once.

import { unpack } from "./bits.js";
import { drawFrame, drawRaster } from "./canvas.js";
import { drawOverlap } from "./charts.js";

const $ = (id) => document.getElementById(id);

/** What is shown before anything is learned: the sequence, and the cue that stands still. */
export function previewScene(material, cue, start) {
  const { units, frames } = material;
  return {
    steps: frames, units, shape: material.shape, preview: true, known: frames,
    truth: material.bits,
    runs: [{ still: true, bits: cue, truthAt: start * units, overlaps: [] }],
  };
}

/** What the server recalled. */
export function recallScene(material, answer) {
  const { units, shape } = material;
  const unpackRun = (run) => ({
    ...run,
    bits: unpack(run.bits, answer.rows * units),
    hidden: run.hidden && { units: run.hidden.units, bits: unpack(run.hidden.bits, answer.rows * run.hidden.units) },
  });
  return {
    steps: answer.rows, units, shape, known: answer.known, cueRows: answer.cue_rows,
    truth: unpack(answer.truth, answer.rows * units),
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
    box.classList.toggle("raster", this.raster);
    this.panels = [{ kind: "truth", title: "Truth", sign: "x(t)" }];
    scene.runs.forEach((run, k) => {
      const mark = scene.runs.length > 1 ? ` ${"AB"[k]}` : "";
      this.panels.push({ kind: "state", run, title: run.still ? "Corrupted cue" : `Recalled${mark}`, sign: run.still ? "ξ(0)" : "ξ(t)" });
      if (run.hidden) this.panels.push({ kind: "hidden", run, title: `Hidden${mark}`, sign: "ζ(t)" });
    });
    box.replaceChildren(...this.panels.map((panel) => {
      const figure = document.createElement("figure");
      const caption = document.createElement("figcaption");
      const name = document.createElement("b");
      name.textContent = panel.title;
      caption.append(name, ` ${panel.sign}`);
      panel.canvas = document.createElement("canvas");
      panel.canvas.setAttribute("role", "img");
      panel.canvas.dataset.panel = panel.kind;
      figure.append(caption, panel.canvas);
      return figure;
    }));
    this.measure();
  }

  /** Give the panels sizes that fill the width. */
  measure() {
    const width = $("panels").clientWidth;
    const [rows, columns] = this.scene.shape;
    const aspect = Math.min(3, Math.max(0.5, columns / rows));
    for (const panel of this.panels) {
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
      const perRow = width < 560 ? Math.min(2, this.panels.length) : this.panels.length;
      const share = (width - 14 * (perRow - 1)) / perRow;
      const height = Math.min(300, (share * rows) / columns, share * 1.6);
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
    }
    drawOverlap($("overlap"), scene.preview ? [] : scene.runs, scene.steps, now);
  }

  drawOne(panel, now) {
    const { scene } = this;
    const { units } = scene;
    const known = now < scene.known;
    let view;
    if (panel.kind === "truth") view = { bits: known ? scene.truth : null, at: now * units, units, shape: panel.shape };
    else if (panel.kind === "hidden") {
      const hidden = panel.run.hidden;
      view = { bits: now < scene.cueRows - 1 ? null : hidden.bits, at: now * hidden.units, units: hidden.units, shape: panel.shape };
    } else if (panel.run.still) {
      view = { bits: panel.run.bits, at: 0, units, shape: panel.shape, truth: scene.truth, truthAt: panel.run.truthAt };
    } else {
      view = { bits: panel.run.bits, at: now * units, units, shape: panel.shape, truth: known && !isLockedOn(panel.run, now) ? scene.truth : null, truthAt: now * units };
    }
    drawFrame(panel.canvas, panel.width, panel.height, view);
    panel.canvas.setAttribute("aria-label", describe(panel, scene, now));
  }

  drawAll(panel, now) {
    const { scene } = this;
    const common = { steps: scene.steps, now };
    if (panel.kind === "truth") drawRaster(panel.canvas, panel.width, panel.height, { ...common, bits: scene.truth, units: scene.units });
    else if (panel.kind === "hidden") {
      drawRaster(panel.canvas, panel.width, panel.height, { ...common, bits: panel.run.hidden.bits, units: panel.run.hidden.units });
    } else {
      drawRaster(panel.canvas, panel.width, panel.height, { ...common, bits: panel.run.bits, units: scene.units, truth: scene.truth, known: Math.min(scene.known, panel.run.locked_on ?? Infinity) });
    }
    panel.canvas.setAttribute("aria-label", `${panel.title}, all ${scene.steps} steps`);
  }
}

/** Rows and columns, of about the wanted proportions, for hidden neurons. */
function gridOf(units, aspect) {
  const columns = Math.max(1, Math.round(Math.sqrt(units * aspect)));
  return [Math.ceil(units / columns), columns];
}

/** Whether a network follows what was stored; it may do so out of step with the truth, so nothing is wrong then. */
const isLockedOn = (run, now) => run.locked_on !== null && now >= run.locked_on;

function describe(panel, scene, now) {
  if (panel.kind === "state" && !panel.run.still && now < scene.known) {
    let wrong = 0;
    if (!isLockedOn(panel.run, now)) for (let i = now * scene.units; i < (now + 1) * scene.units; i++) wrong += panel.run.bits[i] !== scene.truth[i];
    return `${panel.title}, step ${now}: ${wrong} of ${scene.units} units wrong`;
  }
  return `${panel.title}, step ${now}`;
}
