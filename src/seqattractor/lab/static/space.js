// The state space of a recall: the overlap of each of its steps with every stored frame, as a map over time. Overlaps are computed here,
// from the recall and the sequence that the page has already.

import { palette, prepare } from "./canvas.js";

const LEFT = 40, RIGHT = 8, TOP = 4, BOTTOM = 20;

/** Patterns of so many units, packed into words of 32. */
function pack(bits, count, units) {
  const each = Math.ceil(units / 32);
  const words = new Uint32Array(count * each);
  for (let t = 0; t < count; t++) for (let i = 0; i < units; i++) if (bits[t * units + i]) words[t * each + (i >> 5)] |= 1 << (i & 31);
  return { words, each, units };
}

function ones(word) {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The overlap of pattern `s` of one with pattern `t` of the other: the mean of their products. */
function overlap(a, s, b, t) {
  let differ = 0;
  for (let k = 0; k < a.each; k++) differ += ones(a.words[s * a.each + k] ^ b.words[t * b.each + k]);
  return 1 - (2 * differ) / a.units;
}

/** The rows of the stored frames; the last of a loop, which is the first again, is left out. */
export function storedRows({ lengths, loop }) {
  const rows = [];
  let first = 0;
  lengths.forEach((length, s) => {
    for (let f = 0; f < length - (loop[s] ? 1 : 0); f++) rows.push({ row: first + f, s, f });
    first += length;
  });
  return rows;
}

/** The overlaps of so many recalled states with every stored frame, and `usual`, that of two different stored frames on average. */
export function stateSpace(material, bits, steps) {
  const rows = storedRows(material);
  const stored = pack(material.bits, material.frames, material.units);
  const states = pack(bits, steps, material.units);
  const map = new Float32Array(rows.length * steps);
  rows.forEach(({ row }, r) => { for (let t = 0; t < steps; t++) map[r * steps + t] = overlap(stored, row, states, t); });
  let sum = 0, pairs = 0;
  rows.forEach(({ row }, r) => rows.slice(0, r).forEach((other) => { sum += overlap(stored, row, stored, other.row); pairs += 1; }));
  return { rows, steps, map, usual: pairs ? Math.max(0, Math.min(0.98, sum / pairs)) : 0, picture: null };
}

/** The stored frame, or with `sign` -1 its negative, that a step is nearest to. */
export function nearest({ rows, steps, map }, t) {
  let best = { overlap: -2 };
  rows.forEach((place, r) => {
    const m = map[r * steps + t];
    if (Math.abs(m) > best.overlap) best = { ...place, overlap: Math.abs(m), sign: m < 0 ? -1 : 1 };
  });
  return best;
}

/** Draw the map with the moment that is shown. */
export function drawSpace(canvas, space, now, ends) {
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  const context = prepare(canvas, width, height);
  const color = palette();
  const { rows, steps, map, usual } = space;
  if (!space.picture) {
    const rgb = (name) => [1, 3, 5].map((k) => parseInt(color(name).slice(k, k + 2), 16));
    const [paper, plus, minus] = ["paper", "accent", "wrong"].map(rgb);
    const picture = new ImageData(steps, rows.length);
    for (let i = 0; i < map.length; i++) {
      const strength = Math.max(0, (Math.abs(map[i]) - usual) / (1 - usual));
      const to = map[i] > 0 ? plus : minus;
      for (let k = 0; k < 3; k++) picture.data[4 * i + k] = paper[k] + strength * (to[k] - paper[k]);
      picture.data[4 * i + 3] = 255;
    }
    space.picture = new OffscreenCanvas(steps, rows.length);
    space.picture.getContext("2d").putImageData(picture, 0, 0);
  }
  const [wide, tall] = [width - LEFT - RIGHT, height - TOP - BOTTOM];
  context.imageSmoothingEnabled = false;
  context.drawImage(space.picture, LEFT, TOP, wide, tall);
  context.font = "11px system-ui, sans-serif";
  context.fillStyle = color("soft");
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.strokeStyle = color("card");
  context.lineWidth = 2;
  let line = 0;
  rows.forEach(({ s, f }, r) => {
    const y = TOP + (tall * r) / rows.length;
    if (f === 0 && r) { context.beginPath(); context.moveTo(LEFT, y); context.lineTo(width - RIGHT, y); context.stroke(); }
    if (f === 0 && (r === 0 || y - line > 12)) { context.fillText(rows.at(-1).s ? `seq. ${s + 1}` : "x(1)", LEFT - 4, y + 7); line = y; }
  });
  if (!rows.at(-1).s) context.fillText(`x(${rows.length})`, LEFT - 4, height - BOTTOM - 6);
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillText(ends[0], LEFT, height - 4);
  context.textAlign = "right";
  context.fillText(ends[1], width - RIGHT, height - 4);
  const x = LEFT + (wide * (now + 0.5)) / steps;
  for (const [paint, line] of [["card", 4], ["ink", 1.5]]) { // seen on every colour
    context.strokeStyle = color(paint);
    context.lineWidth = line;
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, height - BOTTOM + 3);
    context.stroke();
  }
}

/** The step at a place of the map. */
export function stepOfSpace(canvas, clientX, steps) {
  const box = canvas.getBoundingClientRect();
  return Math.max(0, Math.min(steps - 1, Math.floor(((clientX - box.left - LEFT) / (box.width - LEFT - RIGHT)) * steps)));
}
