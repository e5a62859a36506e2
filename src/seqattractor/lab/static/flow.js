// The picture of a step: the frame, hidden neurons, the next frame, and the connections between them along which activity flows. It draws
// what it is given and knows of no request; `hero.js` says which neurons are shown and what is active.

import { drawFrame, palette, prepare } from "./canvas.js";

const TAKES = 0.45; // of the time of a step, on each side of the hidden neurons

/** Where everything stands in a canvas of this width. */
export function layoutOf(width, [rows, columns], count) {
  const height = width < 560 ? 250 : 310;
  const side = Math.min(width * 0.27, ((height - 26) * columns) / rows, 300);
  const tall = (side * rows) / columns;
  const frame = (x) => ({ x, y: 20 + (height - 24 - tall) / 2, width: side, height: tall });
  const across = Math.min(count, width < 560 ? 4 : 6);
  const down = Math.ceil(count / across);
  const left = side + width * 0.07, right = width - left;
  const [dx, dy] = [(right - left) / across, (height - 28) / Math.max(down + 0.5, 6)];
  const top = 26 + (height - 28 - dy * down) / 2;
  const places = Array.from({ length: count }, (_, k) => [
    left + dx * ((Math.floor(k / down)) + 0.5),
    top + dy * ((k % down) + 0.5 + (Math.floor(k / down) % 2 ? 0.25 : -0.25)),
  ]);
  return { width, height, rows, columns, from: frame(0), to: frame(width - side), places, radius: Math.max(4, Math.min(11, dx * 0.3, dy * 0.36)) };
}

/** The middle of a unit of a frame; `each` units share a pixel. */
const placeOf = (frame, layout, unit, each) => {
  const pixel = Math.floor(unit / each);
  return [frame.x + ((pixel % layout.columns) + 0.5) * (frame.width / layout.columns), frame.y + (Math.floor(pixel / layout.columns) + 0.5) * (frame.height / layout.rows)];
};

const between = ([x0, y0], [x1, y1], part) => [x0 + (x1 - x0) * part, y0 + (y1 - y0) * part];

/**
 * Draw a step.
 * @param view {layout, wiring, before, after, active, each, selected, cursor, silenced, quick}: frames as `drawFrame` takes them, whether
 *   each shown neuron is active, how many units a pixel has, which of them is chosen, under the keyboard, or silenced, and whether the
 *   states are there at once, since the step is too short to wait for them
 * @param part how much of the step has passed, from 0 to 1
 */
export function drawFlow(canvas, view, part) {
  const { layout, wiring, active, each } = view;
  const context = prepare(canvas, layout.width, layout.height);
  const color = palette();
  const coming = Math.min(1, part / TAKES), going = part < 1 ? Math.max(0, (part - 1 + TAKES) / TAKES) : 1;
  const signal = (sign) => color(sign > 0 ? "missing" : "wrong");
  context.font = "13px system-ui, sans-serif";
  context.fillStyle = color("soft");
  context.textAlign = "center";
  const middle = (frame) => frame.x + frame.width / 2;
  context.fillText("ξ(t)", middle(layout.from), 13);
  context.fillText("hidden neurons ζ(t)", layout.width / 2, 13);
  context.fillText("ξ(t+1)", middle(layout.to), 13);

  for (const [frame, picture, shown] of [[layout.from, view.before, true], [layout.to, view.after, view.quick || going === 1]]) {
    const source = new OffscreenCanvas(1, 1);
    drawFrame(source, frame.width, frame.height, shown ? picture : { ...picture, bits: null });
    context.fillStyle = color("paper");
    context.fillRect(frame.x, frame.y, frame.width, frame.height);
    context.drawImage(source, frame.x, frame.y, frame.width, frame.height);
  }

  const wires = [];
  wiring.neurons.forEach((neuron, k) => {
    const place = layout.places[k];
    const chosen = view.selected === neuron;
    for (const [unit, sign] of wiring.inputs[k]) {
      const bit = view.before.bits && view.before.bits[view.before.at + unit] ? 1 : -1;
      wires.push([placeOf(layout.from, layout, unit, each), place, sign * bit, coming, chosen]);
    }
    if (view.silenced.includes(neuron)) return;
    const out = active[k] ? 1 : view.low;
    if (!out) return; // a neuron of 0 and 1 that is at 0
    for (const [unit, sign] of wiring.outputs[k]) wires.push([place, placeOf(layout.to, layout, unit, each), sign * out, going, chosen]);
  });
  context.lineCap = "round";
  for (const [start, end, sign, done, chosen] of wires) {
    context.globalAlpha = chosen ? 1 : view.selected === null ? 0.4 : 0.15;
    context.strokeStyle = signal(sign);
    context.lineWidth = chosen ? 2.5 : 1;
    context.beginPath();
    context.moveTo(...start);
    context.lineTo(...end);
    context.stroke();
    if (done > 0 && done < 1) {
      context.globalAlpha = 1;
      context.fillStyle = signal(sign);
      context.beginPath();
      context.arc(...between(start, end, done), chosen ? 4 : 2.4, 0, 7);
      context.fill();
    }
  }
  context.globalAlpha = 1;
  wiring.neurons.forEach((neuron, k) => {
    const [x, y] = layout.places[k];
    const ring = (radius, paint, width) => {
      context.strokeStyle = color(paint);
      context.lineWidth = width;
      context.beginPath();
      context.arc(x, y, radius, 0, 7);
      context.stroke();
    };
    context.beginPath();
    context.arc(x, y, layout.radius, 0, 7);
    context.fillStyle = color((view.quick || coming === 1) && active[k] && !view.silenced.includes(neuron) ? "figure" : "card");
    context.fill();
    ring(layout.radius, "soft", 1.4);
    if (view.silenced.includes(neuron)) {
      const r = layout.radius * 0.7;
      context.strokeStyle = color("wrong");
      context.lineWidth = 2.4;
      context.beginPath();
      context.moveTo(x - r, y - r);
      context.lineTo(x + r, y + r);
      context.moveTo(x + r, y - r);
      context.lineTo(x - r, y + r);
      context.stroke();
    }
    if (view.selected === neuron) ring(layout.radius + 3.5, "accent", 2.5);
    if (view.cursor === k) ring(layout.radius + 6.5, "ink", 1.6);
  });
}

/** Draw weights as pictures, one for each pattern that a neuron sees: one colour where it is excited, another where it is inhibited. */
export function drawWeights(canvas, weights, [rows, columns], each, width) {
  const places = rows * columns;
  const pixels = Array.from({ length: Math.ceil(weights.length / each) }, (_, k) => {
    let sum = 0;
    for (let i = k * each; i < Math.min(weights.length, (k + 1) * each); i++) sum += weights[i];
    return sum;
  });
  const perPattern = Math.min(places, pixels.length);
  const patterns = Math.round(pixels.length / perPattern);
  const gap = 6;
  const side = (width - gap * (patterns - 1)) / patterns;
  const height = Math.min(220, (side * rows) / columns);
  const wide = (height * columns) / rows;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = prepare(canvas, width, height);
  const color = palette();
  const rgb = (name) => [1, 3, 5].map((k) => parseInt(color(name).slice(k, k + 2), 16));
  const [paper, plus, minus] = ["paper", "missing", "wrong"].map(rgb);
  const largest = pixels.reduce((most, weight) => Math.max(most, Math.abs(weight)), 1e-300);
  for (let p = 0; p < patterns; p++) {
    const picture = new ImageData(columns, rows);
    for (let i = 0; i < perPattern; i++) {
      const weight = pixels[p * perPattern + i] / largest;
      const to = weight > 0 ? plus : minus;
      for (let k = 0; k < 3; k++) picture.data[4 * i + k] = paper[k] + Math.abs(weight) * (to[k] - paper[k]);
      picture.data[4 * i + 3] = 255;
    }
    const source = new OffscreenCanvas(columns, rows);
    source.getContext("2d").putImageData(picture, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(source, p * (wide + gap), 0, wide, height);
  }
}
