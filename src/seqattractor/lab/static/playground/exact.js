// The exact engine for the paper's rule: learning in whole numbers on fields, by the kernels of the C core, with the results of
// engine/exact (docs/engine.rst has the mathematics). A layer that learns from constant patterns is a `Layer`; visible neurons that learn from
// codes which hidden ones are still changing are a `Follower`, and `Codes` are these codes. Where the library goes through windows of epochs
// with several threads, this goes one epoch at a time, so that a visitor can stop after each.

const LANES = 32, AHEAD = 66, SLOTS = 8, ROWS = 64; // as in engine/kernels.py
const SETTLED = 1, NARROW = 2; // what became of a row
const LIMIT = 2 ** 31 - 2; // the largest field that 32 bits may hold

const padded = (n) => Math.ceil(n / LANES) * LANES;

/** Patterns (n, N) of +-1 in bits, where 1 stands for -1. */
function negativeBits(x, n, N) {
  const words = padded(N) / LANES, bits = new Uint32Array(n * words);
  for (let t = 0; t < n; t++) for (let i = 0; i < N; i++) if (x[t * N + i] < 0) bits[t * words + (i >> 5)] |= 1 << (i & 31);
  return bits;
}

function numberOfBits(word) {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Products of every two patterns (n, N), as rows of whole lanes. */
function gram(core, bits, n, N) {
  const words = padded(N) / LANES, width = padded(n), K = core.zeros("int32", n * width), { view } = K;
  for (let s = 0; s < n; s++) {
    for (let t = 0; t <= s; t++) {
      let unlike = 0;
      for (let w = 0; w < words; w++) unlike += numberOfBits(bits[s * words + w] ^ bits[t * words + w]);
      view[s * width + t] = view[t * width + s] = N - 2 * unlike;
    }
  }
  return K;
}

/** Computes fields W x of up to n patterns, which are exact: weights are on the grid of engine/grid.py. */
export class Fields {
  constructor(core, weights, m, N, n) {
    const words = padded(N) / LANES;
    Object.assign(this, { core, n, m, N });
    this.fields = core.zeros("float64", m * n);
    this.bits = core.zeros("uint32", n * words);
    this.rest = {
      m, inputs: N, words, weights, bits: this.bits, fields: this.fields, first: 0, N,
      up: core.zeros("int16", n * 32 * words), down: core.zeros("int16", n * 32 * words),
      up_starts: core.zeros("int64", n + 1), down_starts: core.zeros("int64", n + 1), space: core.zeros("float64", 8 * 32 * words),
    };
  }

  /** The fields (m, n) of patterns (n, N). */
  of(x, n = this.n) {
    this.fields.view.fill(0);
    this.bits.view.set(negativeBits(x, n, this.N));
    this.core.call("add_start_fields", { ...this.rest, n });
    return this.fields;
  }
}

/** Signs of fields (m, n) as patterns (n, width), where a constant +1 stands in columns beyond m. */
export function signs(fields, m, n, width = m) {
  const x = new Int8Array(n * width).fill(1);
  for (let i = 0; i < m; i++) for (let t = 0; t < n; t++) if (fields[i * n + t] < 0) x[t * width + i] = -1;
  return x;
}

/** Neurons (m) that learn targets (n, m) from patterns (n, N), on top of weights (m, N) in steps of eta. */
class Rows {
  constructor(core, weights, x, targets, { n, m, N, kappa }) {
    const width = padded(n), turned = new Int8Array(m * n);
    for (let t = 0; t < n; t++) for (let i = 0; i < m; i++) turned[i * n + t] = targets[t * m + i];
    Object.assign(this, { core, weights, n, m, N, kappa, width });
    this.settled = new Uint8Array(m);
    this.targets = core.copy("int8", turned);
    this.h0 = new Fields(core, weights, m, N, n).of(x);
    this.fields = core.zeros("int32", m * width);
    this.bounds = core.zeros("int32", m * width);
    this.room = core.zeros("int64", m);
    this.counts = core.zeros("int32", m * n);
    this.wrong = core.zeros("uint32", (m * width) / LANES);
    this.rows = core.zeros("int64", m);
    this.state = core.zeros("uint8", m);
    this.errors = core.zeros("int64", 1);
    this.work = {
      space: core.zeros("int32", 4 * ROWS * width), columns: core.zeros("int32", 3 * width * ROWS), turned: core.zeros("int32", LANES * ROWS),
      numbers: core.zeros("int32", width * LANES), added: core.zeros("int32", ROWS * width),
      wrong_space: core.zeros("uint32", (ROWS * width) / LANES), row_errors: core.zeros("int32", ROWS + width / LANES),
    };
    core.call("set_bounds", { m, padded: width, n, bounds: this.bounds, z: this.targets, h0: this.h0, kappa, limit: LIMIT }, "_int32");
  }

  get done() {
    return this.settled.every(Boolean);
  }

  /** What kernels that learn take in common; null where no neuron is left. */
  begin() {
    const left = [];
    this.settled.forEach((settled, i) => { if (!settled) left.push(BigInt(i)); });
    this.rows.view.set(left);
    this.errors.view[0] = 0n;
    const { n, m, width, rows, h0, fields, bounds, room, errors, state, N } = this;
    return left.length ? { n, m, padded: width, epochs: 1, some: left.length, rows, fields, bounds, room, errors, state, step: N, limit: LIMIT, h0 } : null;
  }

  /** Take over what became of the rows; returns the number of updates. */
  end(some) {
    const { rows, state, errors } = this;
    for (let k = 0; k < some; k++) {
      if (state.view[k] === NARROW) throw new RangeError("Fields in units of eta left the range of 32-bit integers; use a larger eta or a smaller kappa.");
      if (state.view[k] === SETTLED) this.settled[Number(rows.view[k])] = 1;
    }
    return Number(errors.view[0]);
  }

  /** Learn one epoch from constant patterns with these products; returns the number of updates, and writes flips of codes, if asked for. */
  learn(K, ahead, flips = null) {
    const common = this.begin();
    if (!common) return { errors: 0, flips: 0 };
    const { targets, counts, wrong, width, n, work } = this;
    const values = { ...common, z: targets, words: width / LANES, capacity: flips ? n * this.m : 0, K, ahead, counts, wrong, flips: flips ?? counts, with_codes: flips ? 1 : 0, ...work };
    const used = this.core.call("learn_rows", values, "_int32_int32");
    return { errors: this.end(common.some), flips: used };
  }

  /** Write the learned weights: what updates since codes are final, or all of them, have added. */
  finish(x) {
    const { n, m, N } = this, weights = this.weights.view, counts = this.counts.view, targets = this.targets.view;
    for (let i = 0; i < m; i++) {
      for (let t = 0; t < n; t++) {
        const step = counts[i * n + t] * targets[i * n + t];
        if (!step) continue;
        for (let k = 0, w = i * N, p = t * N; k < N; k++) weights[w + k] += step * x[p + k];
      }
    }
  }
}

/** Products of constant patterns, and what updates add to later fields. */
function products(core, x, n, N) {
  const K = gram(core, negativeBits(x, n, N), n, N), width = padded(n);
  const ahead = core.zeros("int32", (width / LANES) * AHEAD * LANES);
  core.call("look_ahead", { n, padded: width, K, ahead }, "_int32");
  return [K, ahead];
}

/** A layer that learns from constant patterns. */
class Layer extends Rows {
  constructor(core, weights, x, targets, sizes) {
    super(core, weights, x, targets, sizes);
    this.x = x;
    [this.K, this.ahead] = products(core, x, sizes.n, sizes.N);
  }

  epoch(flips) {
    return this.learn(this.K, this.ahead, flips);
  }
}

/** The codes y(t) of hidden neurons (n, width), of which those beyond M are constant, and their products. */
class Codes {
  constructor(core, y, n, width) {
    const words = padded(width) / LANES, row = padded(n), bits = negativeBits(y, n, width);
    const turned = new Int8Array(width * row);
    for (let t = 0; t < n; t++) for (let i = 0; i < width; i++) turned[i * row + t] = y[t * width + i];
    Object.assign(this, { core, n, width, words, row });
    this.codes = core.copy("int8", turned);
    this.bits = core.copy("uint32", bits);
    this.K = gram(core, bits, n, width);
    this.most = n * width;
    this.tape = {
      flipped: core.zeros("int32", this.most), groups: core.zeros("int64", 4 * this.most), place: core.zeros("int64", 2 * n), group_start: core.zeros("int64", 2),
      version: core.zeros("int64", 1), K_versions: core.zeros("int32", n * row), ahead_versions: core.zeros("int32", (row / LANES) * AHEAD * LANES),
      bit_versions: core.zeros("uint32", n * words),
    };
  }

  /** Apply the flips of an epoch; returns the tape of it. */
  play(flips, number) {
    const { core, n, width, words, row, tape } = this;
    core.call("sort_flips", { number, epochs: 1, n, flips, ...tape });
    const of = { n, padded: row, M: width, words, number, epochs: 1, K: this.K, codes: this.codes, bits: this.bits };
    core.call("play", { ...of, ...tape }, "_int32");
    return { ...tape, number, flips: tape.group_start.view[1] > tape.group_start.view[0] };
  }

  /** The codes as they are, (n, width). */
  get y() {
    const { n, width, row } = this, turned = this.codes.view, y = new Int8Array(n * width);
    for (let t = 0; t < n; t++) for (let i = 0; i < width; i++) y[t * width + i] = turned[i * row + t];
    return y;
  }
}

/** Visible neurons that learn from codes which change. */
class Follower extends Rows {
  constructor(core, V, y, targets, sizes) {
    super(core, V, y, targets, sizes);
    const width = padded(sizes.N), row = padded(sizes.n);
    this.C = core.zeros("int32", sizes.m * width);
    this.replay = {
      space: core.zeros("int32", 3 * SLOTS * row), c: core.zeros("int32", SLOTS * width), learned: core.zeros("int32", width * SLOTS),
      reals: core.zeros("float64", (width + row) * SLOTS), flip_columns: core.zeros("int32", row * SLOTS), row_errors: core.zeros("int32", SLOTS),
    };
  }

  /** Learn one epoch of a tape, which has `ended` where no flips will come after it. */
  epoch(tape, ended) {
    if (ended && !tape.flips) return this.learn(tape.K_versions, tape.ahead_versions).errors;
    const common = this.begin();
    if (!common) return 0;
    const { targets, weights, C, h0, kappa, N, width } = this;
    const of = { ...common, words: padded(N) / LANES, M: N, width: padded(N), number: tape.number, K: tape.K_versions, ahead: tape.ahead_versions, Y: tape.bit_versions, version: tape.version };
    const { flipped, groups, group_start } = tape;
    const code = this.core.call("replay_rows", { ...of, padded: width, flipped, groups, group_start, x: targets, V: weights, g0: h0, C, kappa, ...this.replay }, "_int32_int32");
    if (code < 0) throw new Error("the tape of codes does not fit");
    return this.end(common.some);
  }

  finish(y) {
    const { m, N } = this, weights = this.weights.view, C = this.C.view, width = padded(N);
    for (let i = 0; i < m; i++) for (let k = 0; k < N; k++) weights[i * N + k] += C[i * width + k];
    super.finish(y);
  }
}

/** Learning U and V, or only V where U has no targets z: each epoch returns its errors [sum mu, sum nu]. */
export class TwoLayers {
  constructor(core, { U, V, x, z, targets, n, M, N, inputs, kappa, bias }) {
    const more = bias ? 1 : 0;
    Object.assign(this, { core, U, V, x, z, targets, n, M, N, kappa, width: M + more });
    this.hidden = z && new Layer(core, U, x, z, { n, m: M, N: inputs, kappa });
    this.flips = z && core.zeros("int32", 4 * n * M);
    if (!z) this.fixed = signs(new Fields(core, U, M, inputs, n).of(x).view, M, n, this.width);
    if (!z) this.visible = new Layer(core, V, this.fixed, targets, { n, m: N, N: this.width, kappa });
  }

  epoch() {
    const { core, n, M, N, width, kappa } = this;
    if (!this.hidden) return [0, this.visible.epoch().errors];
    let { errors, flips } = this.hidden.epoch(this.flips);
    if (!this.codes) { // they begin with those of the first epoch
      const y = new Int8Array(n * width).fill(1), flipped = this.flips.view;
      for (let t = 0; t < n; t++) y.set(this.z.subarray(t * M, (t + 1) * M), t * width);
      for (let k = 0; k < flips; k++) y[flipped[4 * k + 1] * width + flipped[4 * k + 2]] = flipped[4 * k + 3];
      flips = 0;
      this.codes = new Codes(core, y, n, width);
      this.visible = new Follower(core, this.V, y, this.targets, { n, m: N, N: width, kappa });
    }
    return [errors, this.visible.epoch(this.codes.play(this.flips, flips), this.hidden.done)];
  }

  /** Write the learned weights. */
  finish() {
    this.hidden?.finish(this.x);
    if (this.visible) this.visible.finish(this.codes ? this.codes.y : this.fixed);
  }
}

/** Learning W of a network without hidden neurons. */
export class OneLayer {
  constructor(core, { W, x, targets, n, N, inputs, kappa }) {
    this.x = x;
    this.visible = new Layer(core, W, x, targets, { n, m: N, N: inputs, kappa });
  }

  epoch() {
    return [0, this.visible.epoch().errors];
  }

  finish() {
    this.visible.finish(this.x);
  }
}
