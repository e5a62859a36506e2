// The field of a hidden neuron at each stored pattern, and its margin where it has learned what to do before the next. They are computed
// here, from weights that the server gave, and drawn beside the neuron.

import { palette, prepare } from "./canvas.js";

const LEFT = 40, RIGHT = 8, TOP = 8, BOTTOM = 20;

/** The rows that a network sees before the successor of row `t`, oldest first; null where there is no successor or not enough before. */
function seenAt({ lengths, loop }, t, order) {
  let first = 0, s = 0;
  while (t >= first + lengths[s]) first += lengths[s++];
  const period = lengths[s] - 1;
  const f = t - first;
  if (f === period) return null;
  if (!loop[s] && f < order - 1) return null;
  return Array.from({ length: order }, (_, k) => first + ((((f - order + 1 + k) % period) + period) % period));
}

/**
 * The fields of a neuron at the stored patterns, as { values, targets }: of those that learned, times the target and in units of kappa,
 * so that learning ends where all are above 1; of others, in units of the largest.
 */
export function marginsOf(material, { inputs, offset, kappa, targets }) {
  const { units, bits, frames } = material;
  const order = inputs.length / units;
  const values = [];
  for (let t = 0; t < frames; t++) {
    const seen = seenAt(material, t, order);
    if (!seen) continue;
    let field = offset;
    seen.forEach((row, k) => { for (let i = 0; i < units; i++) field += bits[row * units + i] ? inputs[k * units + i] : -inputs[k * units + i]; });
    values.push({ row: t, value: targets ? (targets[t] ? field : -field) / kappa : field });
  }
  if (!targets) {
    const largest = values.reduce((most, { value }) => Math.max(most, Math.abs(value)), 1e-300);
    for (const one of values) one.value /= largest;
  }
  return values;
}

/** What the margins come to. */
export function sayMargins({ margins, targets }) {
  if (!targets) {
    const on = margins.filter(({ value }) => value >= 0).length;
    return `Its field at each stored pattern: above 0 it is active, at ${on} of ${margins.length}.`;
  }
  const least = margins.reduce((a, b) => (b.value < a.value ? b : a));
  const wrong = margins.filter(({ value }) => value < 0).length;
  return `Its margin at each stored pattern, in units of κ: the least is ${least.value.toFixed(2)}, at frame ${least.row + 1}${wrong ? `; at ${wrong} of ${margins.length} it does the wrong thing` : ""}.`;
}

/** Draw a bar for each pattern. */
export function drawMargins(canvas, { margins, targets }) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  const context = prepare(canvas, width, height);
  const color = palette();
  const all = margins.map(({ value }) => value);
  const high = Math.max(targets ? 1.25 : 0, ...all), low = Math.min(0, ...all);
  const y = (value) => TOP + ((height - TOP - BOTTOM) * (high - value)) / (high - low);
  const each = (width - LEFT - RIGHT) / margins.length;
  margins.forEach(({ value }, k) => {
    context.fillStyle = color(value < 0 ? "wrong" : "missing");
    context.fillRect(LEFT + k * each, Math.min(y(0), y(value)), Math.max(1, each - (each > 4 ? 1 : 0)), Math.max(1, Math.abs(y(0) - y(value))));
  });
  context.font = "11px system-ui, sans-serif";
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const [value, label, dash] of [[0, "0", []], ...(targets ? [[1, "κ", [4, 3]]] : [])]) {
    context.strokeStyle = color("soft");
    context.setLineDash(dash);
    context.beginPath();
    context.moveTo(LEFT, y(value));
    context.lineTo(width - RIGHT, y(value));
    context.stroke();
    context.fillStyle = color("soft");
    context.fillText(label, LEFT - 6, y(value));
  }
  context.setLineDash([]);
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillText(`frame ${margins[0].row + 1}`, LEFT, height - 4);
  context.textAlign = "right";
  context.fillText(`${margins.at(-1).row + 1}`, width - RIGHT, height - 4);
}
