// Drawing patterns: one as a frame, or all steps side by side. Wrong units have a colour of their own; where a pixel of grey or
// colour takes several units, a mark would hide its value, so that errors have a picture of their own.

import { levelAt } from "./bits.js";

/** The colours of the page, light or dark. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

/** Pixels of the screen for one CSS pixel, as far as more can be seen. */
const density = () => Math.min(window.devicePixelRatio || 1, 3);

/** Give a canvas as many pixels as the screen has for it, and a context in CSS pixels. */
export function prepare(canvas, width, height) {
  const ratio = density();
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

function rgb(color) {
  const hex = color.replace("#", "");
  return [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16));
}

/** Paint an image of one pixel a cell; `paint` fills in red, green, blue and opacity of all. */
function painted(columns, rows, paint) {
  const picture = new ImageData(columns, rows);
  paint(picture.data);
  const source = new OffscreenCanvas(columns, rows);
  source.getContext("2d").putImageData(picture, 0, 0);
  return source;
}

/** Paint cells of 0 and 1, with wrong ones marked. */
function image(columns, rows, cell) {
  const color = palette();
  const colors = new Uint32Array(5); // the last one, of no unit, is transparent
  ["paper", "figure", "missing", "wrong"].forEach((name, k) => new Uint8Array(colors.buffer).set([...rgb(color(name)), 255], 4 * k));
  return painted(columns, rows, (data) => {
    const pixels = new Uint32Array(data.buffer);
    for (let y = 0, i = 0; y < rows; y++) for (let x = 0; x < columns; x++, i++) pixels[i] = colors[cell(x, y)];
  });
}

/** Paint a frame whose pixels are grey values or colours, in several units each. */
function shaded({ bits, at, shape: [rows, columns], code }) {
  return painted(columns, rows, (data) => {
    for (let i = 0; bits && i < rows * columns; i++) {
      for (let k = 0; k < 3; k++) {
        const channel = code.channels === 3 ? k : 0;
        data[4 * i + k] = (255 * levelAt(bits, at + (i * code.channels + channel) * code.bits, code)) / (code.n_levels - 1);
      }
      data[4 * i + 3] = 255;
    }
  });
}

const FAINTEST = 0.3; // of the colour of an error: one level must be seen

/** Paint the errors of such a frame: one colour where it is too bright, another where it is too dark, the stronger the larger. */
function errors({ bits, at, truth, truthAt, shape: [rows, columns], code }) {
  const color = palette();
  const [bright, dark] = ["wrong", "missing"].map((name) => rgb(color(name)));
  const paper = rgb(color("paper"));
  return painted(columns, rows, (data) => {
    for (let i = 0; truth && i < rows * columns; i++) {
      let sum = 0, largest = 0;
      for (let c = 0; c < code.channels; c++) {
        const place = (i * code.channels + c) * code.bits;
        const wrong = levelAt(bits, at + place, code) - levelAt(truth, truthAt + place, code);
        sum += wrong;
        largest = Math.max(largest, Math.abs(wrong));
      }
      const strength = largest ? FAINTEST + ((1 - FAINTEST) * largest) / (code.n_levels - 1) : 0;
      for (let k = 0; k < 3; k++) data[4 * i + k] = paper[k] + strength * ((sum >= 0 ? bright : dark)[k] - paper[k]);
      data[4 * i + 3] = 255;
    }
  });
}

const EMPTY = 4;
const shadeOf = (bit, right) => (right === undefined || right === bit ? bit : 2 + bit);

/**
 * Draw one pattern in rows and columns.
 * @param view {bits, at, units, shape, truth, truthAt, cursor, code, errors}; `at` is the place of the first unit in `bits`; with a
 *   `code` pixels are grey values or colours, or with `errors` how far they are from those of `truth`
 */
export function drawFrame(canvas, width, height, view) {
  const [rows, columns] = view.shape;
  const context = prepare(canvas, width, height);
  context.imageSmoothingEnabled = false;
  const shade = (x, y) => {
    const unit = y * columns + x;
    if (unit >= view.units || !view.bits) return EMPTY;
    return shadeOf(view.bits[view.at + unit], view.truth ? view.truth[view.truthAt + unit] : undefined);
  };
  const source = !view.code ? image(columns, rows, shade) : view.errors ? errors(view) : shaded(view);
  context.drawImage(source, 0, 0, width, height);
  const cell = width / columns;
  if (cell >= 7 && !view.code) { // lines between large cells
    context.strokeStyle = palette()("card");
    context.lineWidth = Math.min(1.5, cell / 8);
    context.beginPath();
    for (let x = 1; x < columns; x++) { context.moveTo(x * cell, 0); context.lineTo(x * cell, height); }
    for (let y = 1; y < rows; y++) { context.moveTo(0, (y * height) / rows); context.lineTo(width, (y * height) / rows); }
    context.stroke();
  }
  if (view.cursor !== undefined && view.cursor !== null) {
    const side = Math.max(cell, 10); // small cells have a frame around them, to be seen
    const middle = [((view.cursor % columns) + 0.5) * cell, (Math.floor(view.cursor / columns) + 0.5) * (height / rows)];
    const [left, top] = middle.map((at, k) => Math.max(1, Math.min(at - side / 2, [width, height][k] - side - 1)));
    for (const [paint, width] of [["card", 5], ["accent", 2.5]]) { // seen on every colour
      context.strokeStyle = palette()(paint);
      context.lineWidth = width;
      context.strokeRect(left, top, side, side);
    }
  }
}

/**
 * Draw all steps: time to the right, units upwards, with a line after the step that is shown.
 * @param view {bits, units, steps, shown, truth, known}; rows from `shown` on are empty, those from `known` on have no truth
 * @param cached what an earlier call for the same view returned: the picture itself is made only once, not at every step
 */
export function drawRaster(canvas, width, height, view, now, cached = null) {
  const { bits, truth, units, steps, shown, known } = view;
  let source = cached;
  if (!source) {
    const shade = (t, y) => {
      if (t >= shown) return EMPTY;
      const place = t * units + (units - 1 - y);
      return shadeOf(bits[place], truth && t < known ? truth[place] : undefined);
    };
    const ratio = density();
    source = new OffscreenCanvas(Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio)));
    const scaled = source.getContext("2d");
    scaled.imageSmoothingEnabled = false;
    scaled.drawImage(image(steps, units, shade), 0, 0, source.width, source.height);
  }
  const context = prepare(canvas, width, height);
  context.drawImage(source, 0, 0, width, height);
  const at = Math.min((width * (now + 1)) / steps, width - 3);
  for (const [paint, wide] of [["card", 7], ["accent", 3]]) { // seen on every colour
    context.fillStyle = palette()(paint);
    context.fillRect(at - (wide - 3) / 2, 0, wide, height);
  }
  return source;
}

/** Draw a tile's picture: the middle frame of pictures, or the first steps of units. */
export function drawThumbnail(canvas, sequence, bits) {
  const size = 44;
  const { units, shape } = sequence;
  if (sequence.kind === "pictures") {
    const scale = size / Math.max(...shape);
    const [height, width] = shape.map((side) => side * scale);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    drawFrame(canvas, width, height, { bits, at: Math.floor(sequence.frames / 5) * units, units, shape });
    return;
  }
  const steps = Math.min(sequence.frames, 16);
  const rows = Math.min(units, 30);
  const context = prepare(canvas, size, size);
  context.imageSmoothingEnabled = false;
  context.drawImage(image(steps, rows, (t, y) => bits[t * units + (rows - 1 - y)]), 0, 0, size, size);
}
