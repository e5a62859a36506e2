// The network with sparse hidden codes: networks/sparse.py and engine/sparse, for the choices that the page offers. Whole-number weights learn by the
// core's kernel `sparse_learn`, and V alone by `practise_V`; which epochs there are, what "auto" means, and what is left to chance is decided here.

import { Fields, signs } from "./exact.js";
import { Network, rint } from "./networks.js";
import { Generator } from "./random.js";

const PROTOTYPE = 2 ** 12, STEP_BITS = 16, LARGEST = 2 ** 53; // engine/sparse/rule.py
const CHOOSING = 0.3, NOISE_WHILE_CHOOSING = 0.4, DRIVE_STEPS = [0.5, 0.1], PRACTICE = 1 / 3, PRACTICE_STEP = 0.1; // engine/sparse/schedule.py
const CLEAN_CHOOSING = 0.16, SETTLING = 0.2, CLEAN_PRACTICE = 0.32, SETTLING_STEP = 0.2, CLEAN_HOMEOSTASIS = 0.2, STREAM = [1 / 8, 1 / 32];
const NEAR = 0.1, NEAREST = 16, TINY = 32, WINDOW = 64, STRETCH = 256, REDRAW = 3;

const words = (count) => Math.ceil(count / 64);
const padded = (count) => words(count) * 64;
const row = (count) => padded(count) + 32;
const square = (value) => value * value;
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

/** The sum of numbers in the order in which numpy adds them. */
function pairwise(numbers, first = 0, n = numbers.length) {
  if (n < 8) {
    let sum = n ? numbers[first] : 0;
    for (let k = 1; k < n; k++) sum += numbers[first + k];
    return sum;
  }
  if (n <= 128) {
    const r = Array.from({ length: 8 }, (_, k) => numbers[first + k]);
    let k = 8;
    for (; k < n - (n % 8); k += 8) for (let j = 0; j < 8; j++) r[j] += numbers[first + k + j];
    let sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; k < n; k++) sum += numbers[first + k];
    return sum;
  }
  const half = Math.floor(n / 2) - (Math.floor(n / 2) % 8);
  return pairwise(numbers, first, half) + pairwise(numbers, first + half, n - half);
}

const dot = (a, i, b, j, N) => {
  let sum = 0;
  for (let k = 0; k < N; k++) sum += a[i * N + k] * b[j * N + k];
  return sum;
};

/** The median, over patterns, of the number of units in which the nearest different pattern differs. */
function typicalDistance(x, n, N) {
  const nearest = new Array(n).fill(-N), kept = [];
  for (let t = 0; t < n; t++) {
    const overlaps = kept.map((s) => dot(x, s, x, t, N));
    if (overlaps.includes(N)) continue; // it is there already
    kept.forEach((s, k) => {
      nearest[s] = Math.max(nearest[s], overlaps[k]);
      nearest[t] = Math.max(nearest[t], overlaps[k]);
    });
    kept.push(t);
  }
  const distances = kept.map((t) => (N - nearest[t]) / 2).sort((a, b) => a - b), middle = distances.length / 2;
  return middle % 1 ? distances[Math.floor(middle)] : (distances[middle - 1] + distances[middle]) / 2;
}

/** What the nearest pattern has in common: up to about 1 for independent ones. */
function howAlike(x, n, N, distance) {
  const mean = new Float64Array(N);
  for (let t = 0; t < n; t++) for (let k = 0; k < N; k++) mean[k] += x[t * N + k];
  for (let k = 0; k < N; k++) mean[k] /= n;
  const spread = Math.sqrt(pairwise(mean.map((m) => square(1 - m * m))));
  const largest = spread * Math.sqrt(2 * Math.log(Math.max(n, 2)));
  return largest > 0 ? (N - 2 * distance - pairwise(mean.map(square))) / largest : 1;
}

/** How many units to flip at most while learning. */
function defaultNoise(load, N, distance) {
  if (distance < NEAR * N) return distance >= NEAREST ? rint(NEAR * N) : 0;
  let share = Math.min(0.4, 0.2 * Math.max(1, (0.8 / load) ** (1 / 3)));
  if (load > 1) share = Math.max(Math.min(share, 0.3 - 0.085 * load, 0.53 - 0.2 * load), 0.05);
  return rint(Math.min(share * N, distance));
}

/** What "auto" means: `choose_defaults` of networks/sparse.py. */
function chooseDefaults(x, targets, { n, inputs, N, M, kappa, noise: given }) {
  const distance = typicalDistance(x, n, inputs), load = n / M, cleanFirst = distance < NEAR * inputs;
  const noise = given ?? defaultNoise(load, inputs, distance);
  const winners = (share) => Math.min(Math.max(3, Math.ceil(M / share)), M);
  const common = { noise, cleanFirst, bias: Math.max(1, rint(Math.sqrt(inputs) / 2)), redrawAbove: ((0.6 * typicalDistance(targets, n, N)) / N) * N };
  if (noise === 0) {
    return { ...common, winners: winners(200), fromNext: n <= inputs, kappaActive: 2 * kappa, activeWeight: 3,
      etaHidden: cleanFirst ? 0.1 / Math.max(distance, 1) : 0.2 / inputs, etaVisible: 0.25, decay: false, learnedDrive: false, feedback: 0, homeostasis: 0.1 };
  }
  if (cleanFirst) {
    return { ...common, winners: winners(250), fromNext: false, kappaActive: 1.4 * kappa, activeWeight: 1,
      etaHidden: 1 / inputs, etaVisible: 2, decay: true, learnedDrive: false, feedback: 8 / (2 * N), homeostasis: 2 };
  }
  const crowded = clamp((load - 1.4) / 0.4, 0, 1), room = clamp((1.55 - load) / 0.15, 0, 1), many = clamp(Math.log2(inputs / 50), 0, 1);
  const alike = howAlike(x, n, inputs, distance);
  const crowding = 0.21 * clamp((5 * inputs) / M, 1, 3) ** (0.8 * many) * square(clamp(alike / 1.1, 1, 2));
  const weight = (crowding + (0.6 - crowding) * room) * Math.min(Math.max(1, load / 1.9) ** 6, 10);
  return { ...common, winners: Math.min(winners(250), Math.max(3, Math.floor((0.04 * inputs) / load))), fromNext: false,
    kappaActive: kappa * (1 + 0.5 * crowded), activeWeight: load < 0.25 ? 3 : 1, etaHidden: ((0.6 - 0.2 * crowded) * clamp(load / 0.5, 0.25, 1)) / inputs,
    etaVisible: 10, decay: true, learnedDrive: true, feedback: weight / (10 * Math.sqrt(N)), homeostasis: 0.3 };
}

/** A unit of weight, a power of two, finer for rates that decay, and the rate in it. */
function inUnits(eta, decay) {
  const unit = 2 ** Math.floor(Math.log2(eta)) / (decay ? 256 : 16);
  return { unit, step: rint(eta / unit) };
}

const part = (share, step) => Math.max(1, rint(share * step));

/** The epochs of a whole fit, and one presentation of a stream: engine/sparse/schedule.py, without patience, since the page limits epochs. */
class Schedule {
  constructor(epochs, choices, hiddenStep, visibleStep) {
    Object.assign(this, { epochs, hiddenStep, visibleStep, ...choices });
  }

  #epoch(values) {
    return { noise: 0, hidden_step: this.hiddenStep, visible_step: this.visibleStep, choosing: 0, drive_step: 0, homeostasis: 0, redraw_above: Infinity, ...values };
  }

  #forV(epochs) {
    return new Array(epochs).fill(this.#epoch({ hidden_step: 0, visible_step: part(PRACTICE_STEP, this.visibleStep) }));
  }

  /** How many epochs are not for V alone, in how many of these targets are chosen, and over how many homeostasis fades. */
  #spans() {
    const epochs = this.noise ? this.epochs - Math.floor(PRACTICE * this.epochs) : this.epochs, choosing = Math.max(1, Math.floor(CHOOSING * epochs));
    return [epochs, choosing, this.learnedDrive ? choosing : Math.max(1, Math.floor(epochs / 5))];
  }

  #driveStep(e, choosing) {
    const [first, last] = DRIVE_STEPS;
    return this.learnedDrive && e < choosing ? rint(first * (last / first) ** (e / choosing) * 2 ** STEP_BITS) : 0;
  }

  plan() {
    if (this.cleanFirst && this.noise) return this.#cleanFirst();
    const [epochs, choosing, fade] = this.#spans(), plan = [];
    for (let e = 0; e < epochs; e++) {
      const share = this.decay ? 1 - e / epochs : 1;
      plan.push(this.#epoch({
        noise: e < choosing ? rint(this.noise * NOISE_WHILE_CHOOSING) : this.noise, hidden_step: part(share, this.hiddenStep), visible_step: part(share, this.visibleStep),
        choosing: Number(e < choosing), drive_step: this.#driveStep(e, choosing), homeostasis: this.homeostasis * Math.max(0, 1 - e / fade),
        redraw_above: fade <= e && e < Math.floor(epochs / 2) ? this.redrawAbove : Infinity,
      }));
    }
    return [...plan, ...this.#forV(this.epochs - epochs)];
  }

  #cleanFirst() {
    const [choosing, settling, practice] = [CLEAN_CHOOSING, SETTLING, CLEAN_PRACTICE].map((share) => Math.max(1, Math.floor(share * this.epochs))), plan = [];
    for (let e = 0; e < choosing; e++) plan.push(this.#epoch({ choosing: 1, homeostasis: this.homeostasis * Math.max(1 - e / choosing, CLEAN_HOMEOSTASIS) }));
    for (let e = 0; e < settling; e++) {
      plan.push(this.#epoch({ visible_step: part(SETTLING_STEP, this.visibleStep), redraw_above: e >= Math.floor(settling / 2) ? this.redrawAbove : Infinity }));
    }
    const noisy = Math.max(0, this.epochs - choosing - settling - practice);
    for (let e = 0; e < noisy; e++) {
      plan.push(this.#epoch({ noise: this.noise, hidden_step: part(this.decay ? 1 - e / noisy : 1, this.hiddenStep), visible_step: part(PRACTICE_STEP, this.visibleStep) }));
    }
    return [...plan, ...this.#forV(practice)].slice(0, this.epochs);
  }

  stream(done) {
    const e = clamp(done, 0, this.epochs - 1), [hidden, visible] = this.decay ? STREAM : [1, 1];
    let left, drive_step = 0;
    if (this.cleanFirst && this.noise) {
      const choosing = Math.max(1, Math.floor(CLEAN_CHOOSING * this.epochs));
      left = e < choosing ? Math.max(1 - e / choosing, CLEAN_HOMEOSTASIS) : 0;
    } else {
      const [, choosing, fade] = this.#spans();
      left = Math.max(0, 1 - e / fade);
      drive_step = this.#driveStep(e, choosing);
    }
    return this.#epoch({ noise: this.cleanFirst ? 0 : this.noise, hidden_step: part(hidden, this.hiddenStep), visible_step: part(visible, this.visibleStep),
      choosing: 1, drive_step, homeostasis: this.homeostasis * left });
  }
}

/** Whether V practises alone in an epoch: patterns are clean, targets and codes fixed. */
const forVAlone = (now) => !now.noise && !now.choosing && now.redraw_above === Infinity && !now.hidden_step;

/** Whether from each epoch on nothing but errors leads to a change. */
function unchangingFrom(epochs) {
  let only = true, learns = null;
  const found = [...epochs].reverse().map((now) => {
    const begins = learns !== null && learns !== Boolean(now.hidden_step);
    only &&= !(now.noise || begins || (now.choosing && (now.homeostasis || now.drive_step)));
    learns = Boolean(now.hidden_step);
    return only;
  });
  return found.reverse();
}

const largest = (numbers) => {
  let most = 0;
  for (const number of numbers) most = Math.max(most, Math.abs(Number(number)));
  return most;
};

/** Learning by the kernels; `state` are whole numbers: U (M, inputs + 1), V (N, M), P (M, inputs) where it is learned, and thresholds theta. */
class Learner {
  constructor(core, { x, targets, drive, n, inputs, N, M }, state, rule, rng, noise) {
    Object.assign(this, { core, x, targets, n, inputs, N, M, state, rule, rng });
    const wide = inputs + 1, learned = rule.learn_drive ? inputs : 0;
    this.xb = new Float64Array(n * wide).fill(rule.bias);
    for (let t = 0; t < n; t++) this.xb.set(x.subarray(t * inputs, (t + 1) * inputs), t * wide);
    this.bounds = [this.#largestField(state.U), largest(state.V) * Math.max(M, N)];
    this.kind = Math.max(...this.bounds) < 2 ** 31 ? "int32" : "int64";
    const gram = core.zeros("int32", n * row(n)), products = gram.view;
    for (let s = 0; s < n; s++) for (let t = 0; t < n; t++) products[s * row(n) + t] = dot(this.xb, s, this.xb, t, wide);
    const P = core.copy("int16", learned ? state.P : []), Pt = core.zeros("int16", learned * row(M)), totals = new Float64Array(padded(M));
    const inverse = core.zeros("float64", M);
    for (let i = 0; i < M; i++) {
      let square = 0;
      for (let k = 0; k < learned; k++) {
        const value = state.P[i * inputs + k];
        Pt.view[k * row(M) + i] = value;
        totals[i] += value;
        square += value * value;
      }
      inverse.view[i] = 1 / Math.sqrt(Math.max(square, 1));
    }
    this.counted = noise ? 0 : n;
    const none = core.zeros("int32", 0);
    this.fixed = {
      low: none, high: none, low_V: none, high_V: none,
      n, n_in: inputs, N, M, learned, feedback_row: rule.learned_feedback ? row(n) : 0, counted: this.counted,
      inputs: core.copy("int8", x), targets: core.copy("int8", targets), input_bits: this.#columnBits(x, inputs), target_bits: this.#columnBits(targets, N),
      gram, drive: core.copy("float64", drive ?? new Float64Array(n * M)), n_flipped: core.zeros("int32", n), theta: core.copy("float64", state.theta),
      wrong: core.zeros("float64", n), redrawn: core.zeros("bool", n), z: core.zeros("uint32", 2 * n * words(M)), P, Pt, inverse,
      counts: core.zeros("int64", M * this.counted), mu: core.zeros("int64", M), nu: core.zeros("int64", 1), noisy: core.zeros("uint64", words(inputs) * WINDOW),
      overlap: core.zeros("int32", n), ahead: core.zeros("int32", WINDOW), score: core.zeros("float64", padded(M)), projected: core.zeros("float64", padded(M)),
      highest_scores: core.zeros("float64", padded(M)), best: core.zeros("int32", M + inputs + 1), active: core.zeros("int32", M + inputs + 1),
      plus: core.zeros("int32", M + inputs + 1), minus: core.zeros("int32", M + inputs + 1), wrong_bits: core.zeros("uint64", words(N)),
      obeying: 0, spacing: 0, spacing_V: 0, left: 1, left_V: 1, x: core.zeros("int8", inputs), // synapses are under no constraints
    };
    const U = new Float64Array(padded(M) * row(wide)), fields = new Float64Array(padded(M) * row(n));
    for (let i = 0; i < M; i++) {
      U.set(state.U.subarray(i * wide, (i + 1) * wide), i * row(wide));
      for (let t = 0; t < n; t++) fields[i * row(n) + t] = dot(state.U, i, this.xb, t, wide);
    }
    const zeros = (length) => new Float64Array(length);
    this.#hold({ U, fields, totals, Vt: this.#transposedV(), lowest: zeros(padded(M)), highest: zeros(padded(M)), feedback: zeros(rule.learned_feedback ? padded(M) * row(n) : 0) });
    this.order = Int32Array.from({ length: inputs }, (_, k) => k);
    this.flippedWidth = -1;
    this.hasFeedback = false;
    this.practice = null;
  }

  /** Put weights and fields into whole numbers of the present kind, with work space to match. */
  #hold(arrays) {
    const { core, kind, M, N, inputs } = this;
    this.numbers = {};
    for (const [name, values] of Object.entries(arrays)) this.numbers[name] = core.copy(kind, values);
    this.space = { h: core.zeros(kind, WINDOW * row(M)), q: core.zeros(kind, WINDOW * row(M)), sums: core.zeros(kind, padded(M)), g: core.zeros(kind, padded(N)),
      Ut: core.zeros(kind, this.counted ? 0 : padded(inputs) * row(M)) };
    this.task = null;
  }

  #transposedV() {
    const { state, N, M } = this, Vt = new Float64Array(M * row(N));
    for (let j = 0; j < N; j++) for (let i = 0; i < M; i++) Vt[i * row(N) + j] = state.V[j * M + i];
    return Vt;
  }

  /** Patterns (n, N) as bits, (words of N, n) of 64 bits. */
  #columnBits(x, N) {
    const { core, n } = this, bits = core.zeros("uint32", 2 * n * words(N)), { view } = bits;
    for (let t = 0; t < n; t++) {
      for (let k = 0; k < N; k++) if (x[t * N + k] > 0) view[2 * (Math.floor(k / 64) * n + t) + ((k >> 5) & 1)] |= 1 << (k & 31);
    }
    return bits;
  }

  #largestField(U) {
    const { M, inputs, rule } = this;
    let most = 0;
    for (let i = 0; i < M; i++) {
      let sum = rule.bias * Math.abs(U[i * (inputs + 1) + inputs]);
      for (let k = 0; k < inputs; k++) sum += Math.abs(U[i * (inputs + 1) + k]);
      most = Math.max(most, sum);
    }
    return most;
  }

  /** U as it is now, (M, inputs + 1). */
  get U() {
    const { state, M, n, inputs } = this, wide = inputs + 1, U = new Float64Array(M * wide);
    if (!this.counted) {
      const view = this.numbers.U.view;
      for (let i = 0; i < M; i++) for (let k = 0; k < wide; k++) U[i * wide + k] = Number(view[i * row(wide) + k]);
      return U;
    }
    U.set(state.U);
    const counts = this.fixed.counts.view;
    for (let i = 0; i < M; i++) {
      for (let t = 0; t < n; t++) {
        const step = Number(counts[i * n + t]);
        if (step) for (let k = 0; k < wide; k++) U[i * wide + k] += step * this.xb[t * wide + k];
      }
    }
    return U;
  }

  /** Learn one epoch; returns the errors [sum mu, sum nu]. */
  epoch(now) {
    if (forVAlone(now)) return this.#practiseV(now);
    if (this.practice) this.#endPractice();
    const { n, M, core, rule, fixed } = this;
    if (this.flippedWidth !== now.noise) {
      this.flippedWidth = now.noise;
      this.flipped = core.zeros("int32", n * now.noise);
      fixed.n_flipped.view.fill(0);
      this.task = null;
    }
    fixed.mu.view.fill(0n);
    fixed.nu.view.fill(0n);
    this.order.forEach((_, k) => { this.order[k] = k; });
    for (let first = 0; first < n;) {
      const [last, kind] = this.#stretch(first, now);
      if (kind !== this.kind) this.#become(kind);
      const whole = this.kind === "int64" ? BigInt : Number;
      this.numbers.lowest.view.fill(whole(-rule.margin), 0, M);
      this.numbers.highest.view.fill(whole(rule.active_margin), 0, M);
      const wanted = Boolean(now.choosing && rule.learned_feedback);
      if (wanted && !this.hasFeedback) this.#setFeedback();
      this.hasFeedback = wanted;
      this.task ??= core.struct("task", { ...fixed, ...this.numbers, ...this.space, noise: now.noise, flipped: this.flipped });
      core.aside(() => {
        const drawn = this.#draw(first, last, now), normals = core.copy("float64", drawn);
        const given = { redraws: drawn.length / M, task: this.task, rule: core.struct("rule", { ...rule, ...now }), normals, first, last };
        const code = core.call("sparse_learn", { ...given, chance: 0, chance_V: 0 }, `_${this.kind}`);
        if (code) throw new Error("too few random numbers for redraws");
      });
      first = last;
    }
    let mu = 0;
    for (const errors of fixed.mu.view) mu += Number(errors);
    return [mu, Number(fixed.nu.view[0])];
  }

  /** Q x(s+1), by which targets are chosen. */
  #setFeedback() {
    const { M, N, n, targets } = this, { feedback, Vt } = this.numbers, whole = this.kind === "int64" ? BigInt : Number, to = feedback.view, V = Vt.view;
    for (let i = 0; i < M; i++) {
      for (let s = 0; s < n; s++) {
        let sum = 0;
        for (let j = 0; j < N; j++) sum += Number(V[i * row(N) + j]) * targets[s * N + j];
        to[i * row(n) + s] = whole(sum);
      }
    }
  }

  #become(kind) {
    const arrays = Object.fromEntries(Object.entries(this.numbers).map(([name, held]) => [name, Array.from(held.view, Number)]));
    this.kind = kind;
    this.#hold(arrays);
  }

  /** How far to go before bounds are to be looked at again, and the narrowest kind of numbers up to there. */
  #stretch(first, now) {
    const { n, M, N, inputs, rule } = this;
    const growth = [now.hidden_step * rule.active_weight * (inputs + rule.bias ** 2), now.visible_step * Math.max(M, N)];
    const least = Math.max(inputs * PROTOTYPE, rule.margin, rule.active_margin, rule.visible_margin);
    let last = n;
    for (const look of [false, true, null]) {
      if (look === null) {
        last = n; // the rest of the epoch in 64 bits
        break;
      }
      if (look) this.bounds = [this.counted ? largest(this.numbers.fields.view) : this.#largestField(this.U), largest(this.numbers.Vt.view) * Math.max(M, N)];
      const far = Math.min(...this.bounds.map((bound, k) => Math.floor((2 ** 31 - 1 - bound) / Math.max(growth[k], 1))));
      last = Math.min(n, first + far);
      if (least < 2 ** 31 && (last === n || last - first >= STRETCH)) break;
    }
    this.bounds = this.bounds.map((bound, k) => bound + (last - first) * growth[k]);
    const bound = Math.max(...this.bounds, least);
    checkExact(bound);
    return [last, bound < 2 ** 31 ? "int32" : "int64"];
  }

  /** Draw the flips of a stretch, and the random part of scores of each transition that is redrawn, in the order of engine/sparse. */
  #draw(first, last, now) {
    const { M, rng } = this, drawn = [], wrong = Array.from(this.fixed.wrong.view.subarray(first, last));
    let from = first;
    wrong.forEach((value, k) => {
      if (!(value > now.redraw_above)) return;
      if (now.noise) this.#flip(from, first + k + 1);
      from = first + k + 1;
      drawn.push(...rng.standardNormals(M));
    });
    if (now.noise) this.#flip(from, last);
    return drawn;
  }

  #flip(first, last) {
    const { rng, order, inputs, flippedWidth: most } = this, flipped = this.flipped.view, count = this.fixed.n_flipped.view;
    for (let t = first; t < last; t++) {
      count[t] = rng.integers(0, most + 1);
      for (let j = 0; j < count[t]; j++) { // the first units of a shuffle
        const other = rng.integers(j, inputs), unit = order[other];
        order[other] = order[j];
        flipped[t * most + j] = order[j] = unit;
      }
    }
  }

  /** One epoch of eqs. (8)-(9) for V alone, with fixed codes. */
  #practiseV(now) {
    const { core, n, N, M, rule, targets } = this;
    if (!this.practice) {
      this.#takeV();
      const U = this.U, wide = this.inputs + 1, active = [], starts = [0], turned = new Int8Array(N * n);
      for (let t = 0; t < n; t++) {
        for (let i = 0; i < M; i++) if (dot(U, i, this.xb, t, wide) >= 0) active.push(i);
        starts.push(active.length);
        for (let j = 0; j < N; j++) turned[j * n + t] = targets[t * N + j];
      }
      this.practice = { N, M, n, V: core.copy("int64", this.state.V), targets: core.copy("int8", turned), active: core.copy("int32", active),
        starts: core.copy("int64", starts), done: core.zeros("bool", N), wrong: this.fixed.wrong };
      this.practiceBound = Math.max(largest(this.state.V), rule.visible_margin) * M;
    }
    this.practiceBound += n * M * now.visible_step;
    checkExact(this.practiceBound);
    return [0, core.call("practise_V", { ...this.practice, margin: rule.visible_margin, step: now.visible_step })];
  }

  #endPractice() {
    this.state.V = Float64Array.from(this.practice.V.view, Number);
    this.practice = null;
    const whole = this.kind === "int64" ? BigInt : Number;
    this.numbers.Vt.view.set(Array.from(this.#transposedV(), whole));
    this.bounds[1] = largest(this.state.V) * Math.max(this.M, this.N);
  }

  #takeV() {
    const { state, N, M } = this, Vt = this.numbers.Vt.view;
    for (let j = 0; j < N; j++) for (let i = 0; i < M; i++) state.V[j * M + i] = Number(Vt[i * row(N) + j]);
  }

  /** Bring the state up to date. */
  finish() {
    if (this.practice) this.#endPractice();
    else this.#takeV();
    const { state, fixed } = this;
    state.U = this.U;
    if (state.P) state.P = Float64Array.from(fixed.P.view);
    state.theta = fixed.theta.view.slice();
  }
}

function checkExact(bound) {
  if (bound >= LARGEST) throw new RangeError("The weights grow beyond the whole numbers that float64 can hold; use larger learning rates or fewer epochs.");
}

/** The network: hidden neurons are 0 or 1 and have a bias, visible ones -1 or +1. */
export class SparseNetwork extends Network {
  constructor(parameters, data, tools) {
    super(parameters, data, tools);
    this.M = parameters.hidden;
    this.bias = 1; // of hidden neurons, which therefore are not odd
    this.tools = tools;
    this.#begin(null);
  }

  /** Settle what is left open, and draw P and U, for learning with so much noise. */
  #begin(noise) {
    const { parameters: { kappa, epochs }, x, targets, n, inputs, N, M, rng } = this;
    const choices = chooseDefaults(x, targets, { n, inputs, N, M, kappa, noise });
    const hidden = inUnits(choices.etaHidden, choices.decay), visible = inUnits(choices.etaVisible, choices.decay);
    this.choices = choices;
    this.units = { hidden: hidden.unit, visible: visible.unit };
    this.schedule = new Schedule(epochs, choices, hidden.step, visible.step);
    this.rule = {
      n_winners: choices.winners, winners: 1, bias: choices.bias, active_weight: choices.activeWeight, visible_margin: Math.max(1, rint(kappa / visible.unit)),
      margin: Math.max(1, rint(kappa / hidden.unit)), active_margin: Math.max(1, rint(choices.kappaActive / hidden.unit)),
      learned_feedback: choices.feedback * visible.unit, redraw: REDRAW, learn_drive: choices.learnedDrive,
    };
    const scale = choices.learnedDrive ? PROTOTYPE / 8 : 2 ** 20, from = choices.fromNext ? N : inputs, wide = inputs + 1;
    const P = rng.standardNormals(M * from).map((value) => rint(value * scale)); // in units of what its sums are exact in
    const U = new Float64Array(M * wide);
    for (let i = 0; i < M; i++) for (let k = 0; k < inputs; k++) U[i * wide + k] = rint(rng.standardNormal() * hidden.step);
    this.#setDrive(P, from, choices.learnedDrive ? PROTOTYPE : scale);
    this.state = { U, V: new Float64Array(N * M), P: choices.learnedDrive ? P : null, theta: this.theta };
    this.epochs = 0;
    this.converged = false;
  }

  /** Thresholds at each neuron's mean drive; the drive itself where P does not learn. */
  #setDrive(P, from, unit) {
    const { n, M, choices, x, targets } = this, source = choices.fromNext ? targets : x, drive = new Float64Array(n * M), centre = new Float64Array(M);
    for (let i = 0; i < M; i++) {
      let length = 0;
      for (let k = i * from; k < (i + 1) * from; k++) length += square(P[k] / unit);
      for (let t = 0; t < n; t++) {
        const sum = dot(P, i, source, t, from) / unit;
        drive[t * M + i] = choices.learnedDrive ? sum / Math.sqrt(length) : sum;
      }
    }
    for (let t = 0; t < n; t++) for (let i = 0; i < M; i++) centre[i] += drive[t * M + i];
    for (let i = 0; i < M; i++) centre[i] /= n;
    let scale = 1;
    if (!choices.learnedDrive) {
      const spread = Math.sqrt(pairwise(drive.map((value, k) => square(value - centre[k % M]))) / drive.length);
      if (spread > 0) scale = spread;
    }
    this.theta = centre.map((value) => value / scale);
    this.drive = choices.learnedDrive ? null : drive.map((value) => value / scale);
  }

  /** Learn some epochs, one after the other. */
  *#run(epochs) {
    const { core, x, targets, drive, n, inputs, N, M, state, rule, rng } = this, { end } = core;
    const learner = new Learner(core, { x, targets, drive, n, inputs, N, M }, state, rule, rng, epochs.some((now) => now.noise));
    const unchanging = unchangingFrom(epochs);
    try {
      for (const [k, now] of epochs.entries()) {
        const errors = learner.epoch(now);
        this.epochs += 1;
        this.converged = !errors[0] && !errors[1] && !now.noise;
        yield errors;
        const tolerated = () => epochs.slice(k + 1).reduce((least, later) => Math.min(least, later.redraw_above), Infinity);
        if (this.converged && unchanging[k] && Math.max(...learner.fixed.wrong.view) <= tolerated()) break;
      }
    } finally {
      learner.finish();
      core.end = end;
      this.weights = null;
    }
  }

  get #wrong() {
    const next = this.nextPatterns(this.x, this.n);
    return next.reduce((wrong, value, k) => wrong + Number(value !== this.targets[k]), 0);
  }

  /** Learn from scratch; where noise hides what a tiny network could learn, once more without it. */
  *learn() {
    yield* this.#run(this.schedule.plan());
    const wrong = this.#wrong, { choices, units, epochs, converged, state, schedule, rule } = this;
    if (!wrong || epochs < this.parameters.epochs || !choices.noise || this.inputs > TINY) return;
    const before = { choices, units, epochs, converged, state, schedule, rule, theta: this.theta, drive: this.drive, rng: this.rng };
    this.rng = new Generator(this.parameters.seed, "", this.tools.normal);
    this.#begin(0);
    try {
      yield* this.#run(this.schedule.plan());
    } finally {
      if (this.#wrong >= wrong) Object.assign(this, before, { weights: null });
    }
  }

  /** Present the transitions up to so many more times, as a stream. */
  *resume(most) {
    for (let k = 0; k < most && !this.converged; k++) yield* this.#run([this.schedule.stream(this.epochs)]);
  }

  /** U with biases, as weights that fields are computed of. */
  get weightsOfU() {
    if (!this.weights) {
      const { M, inputs, state, rule, core } = this, U = state.U.slice();
      for (let i = 0; i < M; i++) U[i * (inputs + 1) + inputs] *= rule.bias;
      this.held ??= core.zeros("float64", U.length);
      this.held.view.set(U);
      this.weights = this.held;
    }
    return this.weights;
  }

  hiddenStates(x, n) {
    const { core, M, inputs } = this, weights = this.weightsOfU, wide = inputs + 1, seen = new Int8Array(n * wide).fill(1);
    for (let t = 0; t < n; t++) seen.set(x.subarray(t * inputs, (t + 1) * inputs), t * wide);
    return core.aside(() => signs(new Fields(core, weights, M, wide, n).of(seen).view, M, n)).map((state) => (state > 0 ? 1 : 0));
  }

  nextPatterns(x, n) {
    const { M, N, state: { V } } = this, y = this.hiddenStates(x, n), next = new Int8Array(n * N);
    for (let t = 0; t < n; t++) {
      const active = [];
      for (let i = 0; i < M; i++) if (y[t * M + i]) active.push(i);
      for (let j = 0; j < N; j++) {
        let field = 0;
        for (const i of active) field += V[j * M + i];
        next[t * N + j] = field >= 0 ? 1 : -1;
      }
    }
    return next;
  }

  /** The network without the outputs of some hidden neurons. */
  without(silenced) {
    const twin = Object.create(this), V = this.state.V.slice();
    for (let j = 0; j < this.N; j++) for (const i of silenced) V[j * this.M + i] = 0;
    twin.state = { ...this.state, V };
    return twin;
  }

  get layers() {
    const { M, N, inputs, state, rule, units } = this, wide = inputs + 1;
    return [
      { m: M, width: inputs, low: 0, unit: units.hidden, row: (i) => state.U.subarray(i * wide, i * wide + inputs), offset: (i) => rule.bias * state.U[i * wide + inputs] },
      { m: N, width: M, low: -1, unit: units.visible, row: (j) => state.V.subarray(j * M, (j + 1) * M), offset: () => 0 },
    ];
  }

  get size() {
    return this.M * (this.inputs + 1) + this.N * this.M;
  }
}
