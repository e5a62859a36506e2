// Recall from a corrupted cue, and the judgement of it: the counterpart of tasks/recall.py and lab/recall.py, with their sentences.
// What a cue is, how long a recall goes on, what it follows in the end, and what stands under "Truth" beside it.

import { pack } from "../bits.js";
import { flip, Generator } from "./random.js";
import { closeLoops, concatenated, equalRows, firsts, keyOf, Rejection, Stored, transitions } from "./sequences.js";

const MINUS = "\u2212";

export const plural = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

/** A number with so many digits behind the point, as Python writes it: of two that are as near the one with an even digit. */
export function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  if ((value * 2 ** (digits + 1)) % 1 || Math.abs(scaled % 1) !== 0.5) return value.toFixed(digits);
  return (2 * Math.round(scaled / 2) / 10 ** digits).toFixed(digits);
}

/** How the first pattern is corrupted. */
export function readCue(spec, data) {
  spec.only("start", "occlusion", "flips", "painted", "noise", "seed");
  const { N } = data, T = data.x.length / N;
  return {
    flips: spec.whole("flips", 0, 0, N), occlusion: spec.number("occlusion", 0, 0, 1),
    painted: [...new Set(spec.wholes("painted", 0, N - 1, N))].sort((a, b) => a - b),
    start: spec.whole("start", 0, 0, T - 1), noise: spec.whole("noise", 0, 0, N), seed: spec.whole("seed", 0, 0, 9999),
  };
}

/** The rows that make a cue of `order` patterns; in a loop they go round. */
export function cueRows(data, start, order) {
  const stored = Stored.of(data), [s, frame] = stored.place(start), period = stored.period(s, 1);
  const rows = Array.from({ length: order }, (_, k) => k);
  if (period !== null) return rows.map((k) => start - frame + ((frame + k) % period));
  if (frame + order >= stored.lengths[s]) {
    const seen = order === 1 ? `frame ${start + 1}` : `the ${order} frames from frame ${start + 1} on, which the network sees first`;
    const instead = frame ? "start earlier" : 'choose fewer "Past patterns it sees", under "More settings"';
    throw new Rejection(400, `There is nothing left to recall after ${seen}; ${instead}.`);
  }
  return rows.map((k) => start + k);
}

/** Cover a block of each pattern with -1, at a random place: `noise.occlude`. */
function occlude(x, N, shape, fraction, rng) {
  const cut = shape.slice(0, 2), rest = N / cut.reduce((a, b) => a * b, 1), side = cut.length === 2 ? Math.sqrt(fraction) : fraction;
  for (let at = 0; at < x.length; at += N) {
    const sizes = cut.map((n) => Math.max(1, Math.min(n, halfEven(n * side))));
    const starts = cut.map((n, axis) => rng.integers(0, n - sizes[axis] + 1));
    for (let i = 0; i < N; i++) {
      const pixel = Math.floor(i / rest), place = cut.length === 2 ? [Math.floor(pixel / cut[1]), pixel % cut[1]] : [pixel];
      if (place.every((p, axis) => p >= starts[axis] && p < starts[axis] + sizes[axis])) x[at + i] = -1;
    }
  }
}

const halfEven = (value) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

/** The corrupted cue, (order, N); a generator may take the place of the seed. */
export function corruptedCue(data, cue, order, normal, rng = null) {
  const { N } = data;
  const x = concatenated(cueRows(data, cue.start, order).map((row) => data.x.subarray(row * N, (row + 1) * N)));
  if (cue.occlusion) occlude(x, N, data.frameShape, cue.occlusion, rng ?? new Generator(cue.seed, "occlude", normal));
  flip(x, N, cue.flips, rng ?? new Generator(cue.seed, "flip", normal));
  for (const unit of cue.painted) x[(order - 1) * N + unit] *= -1;
  return x;
}

/** How long to recall: two rounds of a loop and a little more, as section 6.2 needs; else to the end. */
export function stepsFor(data, start, order, limits) {
  const stored = Stored.of(data, order), [s] = Stored.of(data).place(start), period = stored.period(s, order);
  const end = firsts(data.lengths)[s] + data.lengths[s];
  const steps = period === null ? end - start - order : 2 * (period + 1) + 10;
  return Math.max(1, Math.min(steps, limits.steps, Math.floor(limits.states / data.N)));
}

/** The cue and what follows it, (rows, N); noise flips units of the newest pattern before each step. */
function run(net, cue, steps, noise, rng) {
  const { N, order } = net, rows = cue.length / N, path = new Int8Array((rows + steps) * N), known = new Map();
  path.set(cue);
  let state = cue.slice((rows - order) * N);
  for (let t = rows; t < rows + steps; t++) {
    if (noise) flip(state.subarray((order - 1) * N), N, noise, rng);
    const key = noise ? null : keyOf(state, 0, order * N);
    const next = known.get(key) ?? net.nextPatterns(state, 1);
    if (!noise) known.set(key, next);
    path.set(next, t * N);
    state = concatenated([state.subarray(N), next]);
  }
  return path;
}

/** Recall with a network from a cue (rows, N) and judge the outcome. */
export function recall(net, data, cue, rows, steps, normal) {
  const { N } = data, cue_rows = rows.length / N, { order } = net;
  const states = run(net, rows, steps, cue.noise, new Generator(cue.seed, "recall", normal)), K = states.length / N;
  const stored = Stored.of(data, cue_rows), [s, frame] = Stored.of(data).place(cue.start);
  const period = stored.period(s, order), truth = stored.following(s, frame, K, order);
  const followed = stored.followedBy(states, order, s);
  const outcome = {
    states, N, K, cue_rows, truth, period, followed, steps: K - cue_rows,
    locked_on: lockRow(states, truth, Math.min(cue_rows, truth.length / N), N),
    tau: retrievedAt(states, period === null ? stored.sequences[s] : stored.sequences[s].subarray(0, (period + 1) * N), N),
    ahead: followed && followed.sequence === s && !followed.mirrored ? framesAhead(followed, stored, frame, followed.since, order) : null,
  };
  return { ...outcome, verdict: verdictOn(outcome, stored), shown: shownTruth(net, outcome, data, stored, [s, frame]) };
}

/** The first row from which on a path equals the truth up to its end; null if these are fewer than half of the rows after the cue. */
export function lockRow(path, truth, cue, N) {
  const L = truth.length / N;
  let first = L;
  while (first > 0 && equalRows(path, first - 1, truth, first - 1, N)) first -= 1;
  return 2 * (first - cue) <= L - cue ? first : null;
}

/** The tau of section 6.2: the row at which the whole sequence begins, or null. */
function retrievedAt(path, sequence, N) {
  const T = sequence.length / N;
  for (let tau = 0; tau + T <= path.length / N; tau++) {
    let t = 0;
    while (t < T && equalRows(path, tau + t, sequence, t, N)) t += 1;
    if (t === T) return tau;
  }
  return null;
}

/** By how many frames a recall is ahead of one that began at a frame, `pace` rows before it follows; in a loop the smaller of both counts. */
function framesAhead(followed, stored, frame, pace, order) {
  const ahead = followed.frame - (frame + pace), period = stored.period(followed.sequence, order);
  if (period === null) return ahead;
  const half = Math.floor(period / 2);
  return ((((ahead + half) % period) + period) % period) - half;
}

const describeShift = (ahead) => `${plural(Math.abs(ahead), "frame")} ${ahead > 0 ? "ahead" : "behind"}`;
const stepOf = (row, cue) => Math.max(0, row - cue + 1);

/** Overlap of each row with the one beside it. */
function overlaps(states, truth, N) {
  return Array.from({ length: truth.length / N }, (_, t) => {
    let wrong = 0;
    for (let i = t * N; i < (t + 1) * N; i++) wrong += states[i] !== truth[i];
    return 1 - (2 * wrong) / N;
  });
}

/** The outcome in a sentence or two. */
function verdictOn({ states, truth, N, K, cue_rows, steps, locked_on, followed, ahead }, stored) {
  if (locked_on !== null) {
    const when = locked_on === 0 ? "from the start" : `at step ${stepOf(locked_on, cue_rows)} of ${steps}`;
    return `Locked on ${when}: every frame from there to the end is right and in phase.`;
  }
  if (followed) {
    const since = `from step ${stepOf(followed.since, cue_rows)} on`, name = stored.names[followed.sequence];
    if (followed.mirrored) return `Not recalled: ${since} it follows the negative of ${name}, with every unit reversed. That is an attractor, too.`;
    if (ahead === null) return `Not recalled: ${since} it follows another stored sequence, ${name}.`;
    if (!ahead) return `Not recalled: ${since} it follows the sequence in phase, but not for half of the frames.`;
    return `Out of phase: ${since} it follows the sequence exactly, but ${describeShift(ahead)}.`;
  }
  let again = K - 2;
  while (again >= 0 && !equalRows(states, again, states, K - 1, N)) again -= 1;
  const period = K - 1 - again;
  const where = again < 0 ? "it wandered without settling" : period === 1 ? "it got stuck in one pattern" : `it went astray into a loop of ${period} patterns`;
  return `Not recalled: ${where}. The overlap with the truth was ${fixed(overlaps(states, truth, N).at(-1), 2)} at the end.`;
}

/** The truth to show beside a recall: what the cue asks for, and from a catch on what was caught. */
function shownTruth(net, outcome, data, stored, [s, frame]) {
  const { truth, followed: caught, N, cue_rows } = outcome, { order } = net, asked = { truth, caught: null, words: "" };
  if (outcome.locked_on !== null) return asked;
  if (!caught || caught.since > truth.length / N) return { ...asked, words: stuckInANegative(net, outcome, data, stored) };
  const ahead = framesAhead(caught, stored, frame, caught.since, order);
  if (caught.sequence === s && !ahead && !caught.mirrored) return asked;
  const rows = stored.following(caught.sequence, caught.frame, caught.until - caught.since, order);
  let label = stored.names[caught.sequence], what = `${label}, from its frame ${caught.frame + 1} on`;
  if (caught.sequence === s) {
    label = ahead ? `x(t ${ahead > 0 ? "+" : MINUS} ${Math.abs(ahead)})` : "x(t)";
    what = ahead ? `the sequence, ${describeShift(ahead)}${ahead > 0 ? " of" : ""} what the cue asks for` : "the sequence";
  }
  if (caught.mirrored) {
    label = `${MINUS}${label}`;
    what = `the negative of ${what}. ${whyNegative(net, data)}`;
  }
  return {
    truth: concatenated([truth.subarray(0, caught.since * N), caught.mirrored ? rows.map((v) => -v) : rows]),
    caught: { since: caught.since, label },
    words: `From step ${stepOf(caught.since, cue_rows)} on, what was caught stands under "Truth": ${what.replace(/\.+$/, "")}.`,
  };
}

/** Explain a recall that came to rest in the negative of a stored frame; else nothing. */
function stuckInANegative(net, { states, N, K }, data, stored) {
  if (K < 2 || !equalRows(states, K - 2, states, K - 1, N)) return "";
  const last = states.slice((K - 1) * N).map((v) => -v), all = concatenated(stored.sequences);
  for (let row = 0; row < all.length / N; row++) {
    if (!equalRows(all, row, last, 0, N)) continue;
    const [s, frame] = stored.place(row), name = stored.names.length > 1 ? ` of ${stored.names[s]}` : "";
    return `It came to rest in the negative of frame ${frame + 1}${name}: every unit is reversed. ${whyNegative(net, data)}`;
  }
  return "";
}

/** Explain the negative of a sequence as an attractor, where the network does with negatives what it does with patterns. */
function whyNegative(net, data) {
  const { inputs, n } = transitions(closeLoops(data, net.order), net.order);
  const next = net.nextPatterns(inputs, n), reversed = net.nextPatterns(inputs.map((v) => -v), n);
  if (net.bias || next.some((value, k) => value !== -reversed[k])) return "It is an attractor, too.";
  return "This network has no biases, so it is odd: reverse all of its input, and all of its output is reversed. With each sequence it has therefore stored the negative, with a basin of the same size, and a cue with half of its units flipped is as near to the one as to the other.";
}

const packed = (x) => pack(x.map((value) => (value > 0 ? 1 : 0)));

/** The hidden state that each row makes, -1 before the context is full; null without hidden neurons. */
function hidden(net, { states, N, K }) {
  if (!net.hiddenStates) return null;
  const { order, M } = net, rows = [];
  for (let t = 0; t + order <= K; t++) rows.push(states.subarray(t * N, (t + order) * N));
  const zeta = net.hiddenStates(concatenated(rows), rows.length);
  return { units: M, bits: packed(concatenated([new Int8Array((order - 1) * M).fill(-1), zeta])) };
}

/** A recall for the page. */
export function asJson(net, outcome) {
  const { states, N, shown, locked_on, tau, verdict } = outcome;
  return {
    bits: packed(states), hidden: hidden(net, outcome), overlaps: overlaps(states, shown.truth, N).map((m) => Number(fixed(m, 4))),
    truth: packed(shown.truth), known: shown.truth.length / N, caught: shown.caught, words: shown.words,
    order: net.order, locked_on, tau, verdict, good: locked_on !== null,
  };
}

export { packed };
