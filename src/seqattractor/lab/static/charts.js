// The two curves of the page: errors while learning, and the overlap with the truth during recall. Both are drawn on a canvas by hand, in
// the colours of the style sheet; their legends are part of the page. Networks A and B have colours, and dashes, of their own.

import { palette, prepare } from "./canvas.js";
import { $, letter } from "./names.js";
import { typeScale } from "./type.js";

/** The room around a chart, and the size of its type. */
export const frame = () => {
  const scale = typeScale();
  return { LEFT: 40 * scale, BOTTOM: 20 * scale, TOP: 8, RIGHT: 8, font: `${Math.round(11 * scale)}px system-ui, sans-serif` };
};

/** Draw lines across, each with its label, `y` for a value. */
export function axes(context, color, width, height, yTicks, y) {
  const { LEFT, RIGHT, font } = frame();
  context.font = font;
  context.lineWidth = 1;
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const [value, label] of yTicks) {
    const at = Math.round(y(value)) + 0.5;
    context.strokeStyle = color("line");
    context.beginPath();
    context.moveTo(LEFT, at);
    context.lineTo(width - RIGHT, at);
    context.stroke();
    context.fillStyle = color("soft");
    context.fillText(label, LEFT - 6, at);
  }
}

/** Draw a line through points; where one is null, it is broken. */
export function curve(context, points, color, dash = []) {
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.lineJoin = "round";
  context.setLineDash(dash);
  context.beginPath();
  let pen = false;
  for (const point of points) {
    if (!point) { pen = false; continue; }
    if (pen) context.lineTo(...point); else context.moveTo(...point);
    pen = true;
  }
  context.stroke();
  context.setLineDash([]);
  if (points.length === 1 && points[0]) {
    context.fillStyle = color;
    context.beginPath();
    context.arc(...points[0], 3, 0, 7);
    context.fill();
  }
}

const short = (n) => (n >= 1e6 ? `${n / 1e6}M` : n >= 1000 ? `${n / 1000}k` : `${n}`);

/** Errors in each epoch, on a scale of 1 + errors by powers of ten. */
function drawErrors(canvas, networks) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  const { LEFT, BOTTOM, TOP, RIGHT } = frame();
  const context = prepare(canvas, width, height);
  const color = palette();
  const all = networks.flatMap((n) => [...n.hidden, ...n.visible]);
  const epochs = Math.max(2, ...networks.map((n) => n.visible.length));
  let highest = 0;
  for (const value of all) highest = Math.max(highest, value);
  const top = Math.max(2, Math.ceil(Math.log10(1 + highest)));
  const x = (e) => LEFT + ((width - LEFT - RIGHT) * e) / (epochs - 1);
  const y = (v) => height - BOTTOM - ((height - BOTTOM - TOP) * Math.log10(1 + v)) / top;
  const ticks = [[0, "0"]];
  for (let k = 1; k <= top; k += top > 4 ? 2 : 1) ticks.push([10 ** k, short(10 ** k)]);
  axes(context, color, width, height, ticks, y);
  context.fillStyle = color("soft");
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillText("epoch 1", LEFT, height - 4);
  context.textAlign = "right";
  if (all.length) context.fillText(`${epochs}`, width - RIGHT, height - 4);
  networks.forEach((n, k) => {
    if (n.hidden.some((v) => v > 0)) curve(context, n.hidden.map((v, e) => [x(e), y(v)]), color(k ? "b2" : "a2"), [5, 4]);
    curve(context, n.visible.map((v, e) => [x(e), y(v)]), color(k ? "b" : "a"));
  });
}

/** Draw the errors of all networks, with a legend. */
export function showErrors(curves) {
  drawErrors($("errors"), curves);
  const parts = [];
  curves.forEach((curve, k) => {
    if (!curve.visible.length) return;
    const name = letter(k, curves.length, " ", "");
    parts.push([`line-${k ? "b" : "a"}`, `visible errors${name}`]);
    if (curve.hidden.some((v) => v > 0)) parts.push([`line-${k ? "b2" : "a2"}`, `hidden errors${name}`]);
  });
  $("errors-legend").replaceChildren(...parts.map(([color, words]) => {
    const item = document.createElement("span");
    const dot = document.createElement("i");
    dot.className = `dot ${color}`;
    item.append(dot, words);
    return item;
  }));
  $("learning-note").textContent = parts.length ? "updates in each epoch" : "the errors of each epoch will appear here";
}

/** Overlap with the truth at each step, with the moment that is shown and the steps at which networks locked on; `ends` names the first and the last. */
export function drawOverlap(canvas, runs, steps, now, ends = ["", ""]) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  const { LEFT, BOTTOM, TOP, RIGHT } = frame();
  const context = prepare(canvas, width, height);
  const color = palette();
  const lowest = Math.min(0, ...runs.flatMap((r) => r.overlaps));
  const low = lowest < -0.02 ? -1 : 0;
  const x = (t) => LEFT + ((width - LEFT - RIGHT) * t) / Math.max(1, steps - 1);
  const y = (m) => height - BOTTOM - ((height - BOTTOM - TOP) * (m - low)) / (1 - low);
  axes(context, color, width, height, low ? [[-1, "−1"], [0, "0"], [1, "1"]] : [[0, "0"], [0.5, "0.5"], [1, "1"]], y);
  context.fillStyle = color("soft");
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillText(ends[0], LEFT, height - 4);
  context.textAlign = "right";
  context.fillText(ends[1], width - RIGHT, height - 4);
  runs.forEach((run, k) => {
    const points = run.overlaps.map((m, t) => [x(t), y(m)]);
    curve(context, points, color(k ? "b" : "a"), k ? [6, 3] : []);
    if (run.caught && points[run.caught.since]) { // a ring, not green: from here on it is the overlap with something else
      context.strokeStyle = color("bad");
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(...points[run.caught.since], 5, 0, 7);
      context.stroke();
    }
    if (run.locked_on !== null && points[run.locked_on]) {
      context.fillStyle = color("good");
      context.beginPath();
      context.arc(...points[run.locked_on], 5, 0, 7);
      context.fill();
    }
  });
  context.strokeStyle = color("ink");
  context.lineWidth = 1.5;
  context.beginPath();
  context.moveTo(x(now), TOP - 4);
  context.lineTo(x(now), height - BOTTOM + 3);
  context.stroke();
}

/** The step at a place of the overlap curve. */
export function stepAt(canvas, clientX, steps) {
  const { LEFT, RIGHT } = frame();
  const box = canvas.getBoundingClientRect();
  const share = (clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
  return Math.max(0, Math.min(steps - 1, Math.round(share * (steps - 1))));
}
