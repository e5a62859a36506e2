// The sequences of the playground, equal to the library's for the same options: fixed ones, the walker and glyphs of digits come from the library
// as data; what chance, sines and cosines make is made here, in the order in which datasets/ draws. The counterpart of lab/materials.py.

import { unpack } from "../bits.js";
import { Generator } from "./random.js";
import { concatenated, keyOf, loopsOf, Rejection } from "./sequences.js";

const CANVAS = 40, BOX = 28, GLYPH = 20, REDRAWS = 1000, STEP = 0.1; // of moving digits
const SIDE = 16, RADIUS = 2.7; // of place cells
const STRIDES = 3, WALK = 103; // of the walker

const signed = (bits) => Int8Array.from(bits, (bit) => (bit ? 1 : -1));

/** Rows and columns, about square, for units that have none. */
function grid(units) {
  const rows = Math.floor(Math.sqrt(units));
  for (let r = rows; r > Math.floor(rows / 2); r--) if (units % r === 0) return [r, units / r];
  return [rows, Math.ceil(units / rows)];
}

/** Data as all parts of the playground take them, with the Python that makes them. */
function made(x, N, python, { lengths = [x.length / N], shape = null, closed = 1, kind = shape ? "pictures" : "units", code = null, pitches = null } = {}) {
  const data = { x, N, lengths, closed, kind, code, pitches, python, frameShape: shape ?? [N], shape: shape?.slice(0, 2) ?? grid(N) };
  return { ...data, loops: loopsOf(data) };
}

const closedLoop = (x, N) => concatenated([x, x.subarray(0, N)]);

/** What `json.dumps` writes between parentheses. */
const call = (name, ...given) => `X = sa.datasets.${name}(${given.join(", ")})`;

export class Materials {
  /** `data` are those of the library: fixed sequences, the walker, glyphs, and the tables of the normal sampler. */
  constructor(data) {
    this.data = data;
    this.cached = new Map();
  }

  /** The sequences that a request describes. */
  make(spec, limits) {
    const name = spec.choice("name", "walker", [...this.data.sequences.map((entry) => entry.name), "frames"]);
    if (name === "frames") return drawn(spec, limits);
    const { options } = this.data.sequences.find((entry) => entry.name === name);
    spec.only("name", ...options.map((option) => option.name));
    const values = Object.fromEntries(options.map((option) => [option.name, option.choices
      ? spec.choice(option.name, option.default, Object.keys(option.choices))
      : spec.whole(option.name, option.default, option.low, option.high)]));
    const key = JSON.stringify([name, values]);
    if (!this.cached.has(key)) {
      if (this.cached.size > 8) this.cached.clear();
      this.cached.set(key, this[name](values));
    }
    return this.cached.get(key);
  }

  walker({ frames, size }) {
    const { shape, bits } = this.data.walker[size], N = shape[0] * shape[1], all = unpack(bits, WALK * N);
    const span = frames <= Math.floor(WALK / STRIDES) ? WALK / STRIDES : WALK;
    const places = Array.from({ length: frames }, (_, k) => Math.floor((k * span) / frames));
    const x = signed(concatenated(places.map((k) => all.subarray(k * N, (k + 1) * N))));
    return made(closedLoop(x, N), N, call("walker", frames, `shrink=${size === "small" ? 4 : 2}`), { shape });
  }

  digits({ sequences, frames, digits, seed }) {
    const { count, bits } = this.data.glyphs, glyphs = unpack(bits, count * GLYPH * GLYPH), N = CANVAS * CANVAS;
    const rng = new Generator(seed, "digits", this.data.normal), parts = [];
    const next = new Map(); // the successor of each frame
    for (let drawn = 0; parts.length < sequences; drawn++) {
      if (drawn === sequences + REDRAWS) {
        throw new Rejection(400, `${REDRAWS} sequences were drawn again because a frame had two successors; ask for fewer or shorter sequences, or a larger canvas.`);
      }
      const x = movingDigits(glyphs, count, frames, digits, rng), own = new Map(next);
      const fits = Array.from({ length: frames - 1 }, (_, t) => t).every((t) => {
        const [now, after] = [keyOf(x, t, N), keyOf(x, t + 1, N)];
        if (!own.has(now)) own.set(now, after);
        return own.get(now) === after;
      });
      if (!fits) continue;
      for (const [now, after] of own) next.set(now, after);
      parts.push(x);
    }
    const python = call("moving_digits", sequences, frames, CANVAS, digits, `rng=${seed}`);
    return made(concatenated(parts), N, python, { lengths: parts.map(() => frames), shape: [CANVAS, CANVAS], closed: 0 });
  }

  places({ frames, path }) {
    const eight = path === "eight", steps = frames + (eight ? frames % 2 : 0), middle = (SIDE - 1) / 2;
    const rounded = (value) => Math.round(value * 1e6) / 1e6;
    const x = new Int8Array(steps * SIDE * SIDE);
    for (let t = 0; t < steps; t++) {
      const turn = (2 * Math.PI * t) / steps, radius = 4.6 + 0.9 * Math.cos(3 * turn);
      const row = eight ? rounded(middle + 4.6 * Math.sin(2 * turn)) : middle - radius * Math.cos(turn);
      const column = eight ? rounded(middle + 5 * Math.sin(turn)) : middle + radius * Math.sin(turn);
      for (let i = 0; i < SIDE * SIDE; i++) x[t * SIDE * SIDE + i] = Math.hypot(Math.floor(i / SIDE) - row, (i % SIDE) - column) <= RADIUS ? 1 : -1;
    }
    return made(closedLoop(x, SIDE * SIDE), SIDE * SIDE, call("place_cells", frames, `"${path}"`), { shape: [SIDE, SIDE] });
  }

  tune() {
    return this.#fixed("tune", "tune()", { kind: "music", pitches: this.data.pitches });
  }

  toy({ which }) {
    return this.#fixed(which, which === "xor" ? "xor()" : `toy(${which})`, {});
  }

  #fixed(name, words, options) {
    const { N, frames, bits } = this.data.fixed[name];
    return made(signed(unpack(bits, N * frames)), N, `X = sa.datasets.${words}`, options);
  }

  random({ frames, units, seed }) {
    const T = frames - 1, rng = new Generator(seed, "", this.data.normal), seen = new Set(), rows = [];
    if (units < 60 && T > 2 ** units) {
      throw new Rejection(400, `There are only ${2 ** units} different patterns of ${units} units, fewer than the ${T} asked for.`);
    }
    while (rows.length < T) {
      let row = null;
      for (let k = 0; k < 10000 && !row; k++) {
        const x = Int8Array.from(rng.randoms(units), (value) => (value < 0.5 ? 1 : -1)), key = keyOf(x, 0, units);
        if (!seen.has(key)) {
          seen.add(key);
          row = x;
        }
      }
      if (!row) throw new Rejection(400, "No new pattern turned up in 10,000 draws: with so few units, or so strong a bias or correlation, too few patterns are likely; ask for fewer or raise N.");
      rows.push(row);
    }
    return made(closedLoop(concatenated(rows), units), units, call("random_periodic", frames, units, `rng=${seed}`));
  }
}

/** One sequence of digits that bounce off the walls: `_sequence` of datasets/_moving_digits.py. */
function movingDigits(glyphs, count, length, digits, rng) {
  const x = new Int8Array(length * CANVAS * CANVAS).fill(-1), margin = (BOX - GLYPH) / 2, free = CANVAS - BOX;
  for (let d = 0; d < digits; d++) {
    const glyph = rng.integers(0, count) * GLYPH * GLYPH;
    const position = [rng.random(), rng.random()], direction = 2 * Math.PI * rng.random();
    const velocity = [STEP * Math.sin(direction), STEP * Math.cos(direction)];
    for (let t = 0; t < length; t++) {
      for (const axis of [0, 1]) {
        position[axis] += velocity[axis];
        if (position[axis] <= 0 || position[axis] >= 1) velocity[axis] = -velocity[axis];
        position[axis] = Math.min(1, Math.max(0, position[axis]));
      }
      const [row, column] = position.map((place) => Math.trunc(place * free) + margin);
      for (let i = 0; i < GLYPH * GLYPH; i++) {
        if (glyphs[glyph + i]) x[t * CANVAS * CANVAS + (row + Math.floor(i / GLYPH)) * CANVAS + column + (i % GLYPH)] = 1;
      }
    }
  }
  return x;
}

/** Frames that a visitor drew, or that came with a link. */
function drawn(spec, limits) {
  spec.only("name", "shape", "units", "lengths", "kind", "bits", "code", "pitches");
  const shape = spec.wholes("shape", 1, limits.units, 2);
  if (shape.length !== 2) throw new Rejection(400, "shape must have two numbers, rows and columns.");
  const kind = spec.choice("kind", "pictures", ["pictures", "units", "music"]);
  const { code, behind } = spec.has("code") && kind === "pictures" ? levels(spec.object("code")) : { code: null, behind: [] };
  const places = [...shape, ...behind].reduce((a, b) => a * b, 1);
  const units = spec.whole("units", Math.min(places, limits.units), 1, limits.units);
  if (units > places || (kind === "pictures" && units !== places)) throw new Rejection(400, `${units} units do not fit into ${shape[0]} rows of ${shape[1]}.`);
  const lengths = spec.wholes("lengths", 1, limits.frames, limits.frames), frames = lengths.reduce((a, b) => a + b, 0);
  if (frames > limits.frames) throw new Rejection(413, `The lab takes up to ${limits.frames} frames, but these are ${frames}; leave some out.`);
  const short = lengths.findIndex((length) => length < 2);
  if (short >= 0 || !lengths.length) {
    throw new Rejection(400, `A sequence needs at least two frames, but ${lengths.length > 1 ? `sequence ${short + 1}` : "this one"} has ${lengths[short] ?? 0}.`);
  }
  const frameShape = kind === "pictures" ? [...shape, ...behind] : null;
  const load = 'sa.io.load("sequence.npz", key="X")', about = lengths.length === 1 ? [] : [`lengths=[${lengths.join(", ")}]`];
  if (code) {
    const { n_levels, kind: way, low, high } = code;
    about.push(`frame_shape=(${frameShape.join(", ")})`, `code=sa.encoders.LevelCode(n_levels=${n_levels}, kind='${way}', low=${asFloat(low)}, high=${asFloat(high)})`);
  }
  const python = about.length ? `sa.Sequences(${[load, ...about].join(", ")})` : load;
  const x = spec.bits("bits", frames * units), pitches = kind === "music" ? spec.wholes("pitches", 0, 127, units) : null;
  if (pitches && pitches.length !== units) throw new Rejection(400, `pitches must have ${units} numbers, one for each unit.`);
  return made(x, units, `X = ${python}  # "Sequence" under "Take it with you"`, { lengths, shape: frameShape, closed: 0, kind, code, pitches });
}

/** How units encode grey values or colours; `behind` is the rest of the frame shape. */
function levels(spec) {
  spec.only("n_levels", "kind", "low", "high", "bits", "channels");
  const low = spec.number("low", 0, -1e100, 1e100), high = spec.number("high", 255, -1e100, 1e100);
  if (!(low < high)) throw new Rejection(400, `high must lie above low, but they are ${high} and ${low}.`);
  const n_levels = spec.whole("n_levels", 2, 2, 256), kind = spec.choice("kind", "thermometer", ["thermometer", "gray"]);
  const bits = kind === "thermometer" ? n_levels - 1 : Math.ceil(Math.log2(n_levels));
  const channels = spec.whole("channels", 1, 1, 3);
  if (channels === 2 || spec.whole("bits", bits, 1, 256) !== bits) {
    throw new Rejection(400, `A value of ${n_levels} levels has ${bits} bits, and a picture 1 or 3 channels.`);
  }
  return { code: { n_levels, kind, low, high, bits, channels }, behind: channels === 1 ? [bits] : [channels, bits] };
}

/** A float as Python writes it. */
export function asFloat(value) {
  const size = Math.abs(value);
  if (size && (size < 1e-4 || size >= 1e16)) {
    const [digits, power] = value.toExponential().split("e");
    return `${digits}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
}
