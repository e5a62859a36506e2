// The step that is shown as a picture to share, made in the browser from what is on the stage, so that no request is needed.

import { drawFrame, palette } from "./canvas.js";
import { drawOverlap } from "./charts.js";
import { $ } from "./names.js";
import { sayMoment, viewOf } from "./stage.js";

const WIDTH = 960, GAP = 20, HEAD = 72, CURVE = 120, FOOT = 30;

/** Where the panels go in a picture of this width. */
function layoutOf(panels, [rows, columns], width) {
  const share = (width - GAP * (panels.length + 1)) / panels.length;
  const height = Math.min(360, (share * rows) / columns);
  const wide = (height * columns) / rows;
  const left = (width - panels.length * wide - (panels.length - 1) * GAP) / 2;
  return panels.map((panel, k) => ({ panel, x: left + k * (wide + GAP), width: wide, height }));
}

function drawPanels(context, stage, places, now, top) {
  const color = palette();
  for (const { panel, x, width, height } of places) {
    const source = new OffscreenCanvas(1, 1);
    drawFrame(source, width, height, viewOf(panel, stage.scene, now));
    context.fillStyle = color("paper");
    context.fillRect(x, top, width, height);
    context.imageSmoothingEnabled = false;
    context.drawImage(source, x, top, width, height);
  }
}

/** The step that is shown as a PNG: what was recalled, with the words and the curve. */
export async function posterOf(stage, now) {
  const places = layoutOf(stage.panels, stage.scene.shape, WIDTH);
  const tall = places[0].height;
  const height = HEAD + 22 + tall + GAP + CURVE + FOOT;
  const canvas = new OffscreenCanvas(2 * WIDTH, 2 * height);
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  const color = palette();
  context.fillStyle = color("card");
  context.fillRect(0, 0, WIDTH, height);
  const write = (text, x, y, font, paint, align = "left", most = WIDTH - 2 * GAP) => {
    context.font = `${font} system-ui, sans-serif`;
    context.fillStyle = color(paint);
    context.textAlign = align;
    context.fillText(text, x, y, most);
  };
  [...$("verdicts").children].slice(0, 2).forEach((line, k) => {
    write(line.firstChild.textContent, GAP, 30 + 24 * k, "600 17px", line.classList.contains("good") ? "good" : "bad");
  });
  for (const { panel, x } of places) {
    write(panel.title, x, HEAD + 12, "600 13px", "ink");
  }
  drawPanels(context, stage, places, now, HEAD + 22);
  const curve = new OffscreenCanvas(1, 1);
  Object.assign(curve, { clientWidth: WIDTH - 2 * GAP, clientHeight: CURVE });
  drawOverlap(curve, stage.scene.runs, stage.scene.steps, now, ["cue", `step ${stage.scene.steps - stage.scene.cueRows}`]);
  context.drawImage(curve, GAP, HEAD + 22 + tall + GAP, WIDTH - 2 * GAP, CURVE);
  write(`${sayMoment(stage.scene, now)}; the curve is the overlap with the truth`, GAP, height - 10, "12px", "soft");
  write("seqattractor lab", WIDTH - GAP, height - 10, "12px", "soft", "right");
  return canvas.convertToBlob({ type: "image/png" });
}
