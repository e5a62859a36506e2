// The networks of the playground: the paper's, its ablations (only V, Hebbian V), and the one without hidden neurons. Start weights are drawn in
// the library's order and put on its grid, in steps of eta (engine/grid.py), so that all sums are exact; `exact.js` learns. Each network answers
// like `networks/` of the library: it learns epoch by epoch, continues, and says which pattern follows a state. `sparse.js` has another one.

import { Core } from "./core.js";
import { Fields, OneLayer, signs, TwoLayers } from "./exact.js";
import { Generator } from "./random.js";
import { describeConflicts, findConflicts, firsts, transitions } from "./sequences.js";

const GRID = 2 ** -24, LARGEST_SUM = 2 ** 29, MOST_STEPS = 2 ** 40; // in steps of eta
const HOLD = 10; // times the scale of other starts: the size of hidden biases
const SCALE = 1e-3;

/** The nearest whole number, of two the even one. */
export const rint = (value) => (Math.abs(value) < 2 ** 51 ? value + 1.5 * 2 ** 52 - 1.5 * 2 ** 52 : value);

/** Weights in steps of eta, on the grid. */
export const inSteps = (weight, eta) => rint(weight / eta / GRID) * GRID;

/** A number as Python's :g writes it. */
export function general(value, digits = 6) {
  const [mantissa, power] = value.toExponential(digits - 1).split("e"), exponent = Number(power);
  if (exponent >= -4 && exponent < digits) return String(Number(value.toPrecision(digits)));
  return `${Number(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** What all networks have in common: the data that they learn, and their memory. */
export class Network {
  constructor(parameters, data, { module, normal }) {
    const conflicts = findConflicts(data, parameters.order || 1);
    if (!parameters.order && conflicts.found.length && conflicts.context === null) throw new Error(describeConflicts(conflicts));
    this.order = parameters.order || conflicts.context || 1;
    if (parameters.order && conflicts.found.length) {
      throw new Error((this.order > 1 ? `with a context of ${this.order} patterns ` : "") + describeConflicts(conflicts));
    }
    const { inputs, targets, n } = transitions(data, this.order);
    Object.assign(this, { parameters, N: data.N, inputs: data.N * this.order, x: inputs, targets, n, lengths: data.lengths, core: new Core(module) });
    this.rng = new Generator(parameters.seed, "", normal);
    this.converged = false;
    this.epochs = 0;
  }

  /** Reject parameters that are too many learning steps. */
  checkSteps(eta, values) {
    for (const [name, value] of Object.entries(values)) {
      if (Math.abs(value) > MOST_STEPS * eta) {
        throw new Error(`${name} must be at most ${general(MOST_STEPS)} learning steps, which are eta = ${general(eta)} each, but it is ${general(value)}.`);
      }
    }
  }

  /** The share of the transitions that are right, of all that the network learned. */
  get score() {
    const next = this.nextPatterns(this.x, this.n);
    let right = 0;
    for (let t = 0; t < this.n; t++) {
      let wrong = 0;
      for (let i = t * this.N; i < (t + 1) * this.N; i++) wrong += next[i] !== this.targets[i];
      right += wrong === 0;
    }
    return right / this.n;
  }
}

/** Networks whose weights are learned in steps of eta. */
class InSteps extends Network {
  constructor(parameters, data, tools) {
    super(parameters, data, tools);
    const { eta, kappa, bias } = parameters;
    this.checkSteps(eta, { kappa, init_scale: SCALE });
    this.bias = bias ? 1 : 0;
  }

  /** Random weights (m, width) in steps of eta, with columns left for biases. */
  drawn(m, width, scale = SCALE) {
    const { eta } = this.parameters, wide = width + this.bias, weights = this.core.zeros("float64", m * wide), { view } = weights;
    for (let i = 0; i < m; i++) for (let k = 0; k < width; k++) view[i * wide + k] = inSteps(this.rng.standardNormal() * scale, eta);
    return weights;
  }

  /** Set the last column of weights to biases. */
  setBias(weights, biases) {
    const wide = weights.length / biases.length, { view } = weights, { eta } = this.parameters;
    biases.forEach((bias, i) => { view[(i + 1) * wide - 1] = inSteps(bias, eta); });
  }

  /** Patterns (n, width) with a constant +1 beside them, where there are biases. */
  seen(x, width) {
    if (!this.bias) return x;
    const n = x.length / width, wide = new Int8Array(n * (width + 1)).fill(1);
    for (let t = 0; t < n; t++) wide.set(x.subarray(t * width, (t + 1) * width), t * (width + 1));
    return wide;
  }

  /** The states (n, m) of neurons with weights (m, width), for patterns (n, width). */
  states(weights, m, width, x, n) {
    return this.core.aside(() => signs(new Fields(this.core, weights, m, width, n).of(x).view, m, n));
  }

  /** Reject weights whose sums float64 could not hold. */
  checkSums(weights, m, names) {
    const wide = weights.length / m, { view } = weights, { eta } = this.parameters;
    for (let i = 0; i < m; i++) {
      let sum = 0;
      for (let k = 0; k < wide - this.bias; k++) sum += Math.abs(view[i * wide + k]);
      if (sum < LARGEST_SUM) continue;
      const steps = `${general(LARGEST_SUM, 3)} learning steps, which are eta = ${general(eta)} each`;
      const remedy = "use a larger eta, a smaller kappa or a smaller init_scale";
      throw new Error(`the weights ${names} of a neuron sum to more than ${steps}, and float64 could not add them up exactly; ${remedy}.`);
    }
  }

  /** Learn up to `most` epochs; gives the errors of each, and leaves the weights as they are after the last one. */
  *learn(most) {
    const { end } = this.core;
    const engine = this.engine();
    try {
      for (let epoch = 0; epoch < most && !this.converged; epoch++) {
        const errors = engine.epoch();
        this.epochs += 1;
        this.converged = errors[0] === 0 && errors[1] === 0;
        this.hiddenErrors ||= errors[0] > 0;
        yield errors;
      }
    } finally {
      engine.finish();
      this.core.end = end;
      this.check();
    }
  }

  /** A layer of threshold neurons, for certificates: a neuron is active where weights . input + offset >= 0. */
  layer(weights, m, width) {
    const wide = width + this.bias;
    return { m, width, low: -1, row: (i) => weights.view.subarray(i * wide, i * wide + width), offset: (i) => (this.bias ? weights.view[(i + 1) * wide - 1] : 0) };
  }

  /** Learn for up to so many more epochs. */
  resume(most) {
    return this.learn(most);
  }

  get kappaInSteps() {
    return inSteps(this.parameters.kappa, this.parameters.eta);
  }
}

/** The network with hidden neurons; `learns` is "UV", "V", or "hebbian" for a V that adds up what it sees. */
export class PaperNetwork extends InSteps {
  constructor(parameters, data, tools) {
    super(parameters, data, tools);
    const { N, inputs, bias, rng } = this, M = (this.M = parameters.hidden);
    this.U = this.drawn(M, inputs);
    this.V = this.drawn(N, M);
    this.core.aside(() => {
      const wide = N + bias, P = this.core.zeros("float64", M * wide), { view } = P;
      for (let i = 0; i < M; i++) for (let k = 0; k < N; k++) view[i * wide + k] = inSteps(rng.standardNormal(), 1);
      if (bias) this.#drawBiases(view);
      if (parameters.learns === "UV") this.#setTargets(data, this.states(P, M, wide, this.seen(data.x, N), data.x.length / N));
    });
    this.check();
    if (parameters.learns === "hebbian") this.V.view.fill(0);
  }

  /** Take the hidden targets before every pattern of the data, (T, M), eq. (4), of which transitions need those before their own. */
  #setTargets({ lengths }, before) {
    const { M, n, order } = this;
    this.before = before;
    this.z = new Int8Array(n * M);
    let t = 0;
    firsts(lengths).forEach((first, s) => {
      for (let row = first + order; row < first + lengths[s]; row++, t++) this.z.set(before.subarray(row * M, (row + 1) * M), t * M);
    });
  }

  /** What hidden neuron j is to do before the pattern of a row; only of networks whose hidden neurons have learned. */
  get targetsOf() {
    return this.before && this.hiddenErrors ? (row, j) => this.before[row * this.M + j] : null;
  }

  /** The network without the outputs of some hidden neurons; its memory is that of this one, and free again with `core.aside`. */
  without(silenced) {
    const { N, M, bias, V } = this, twin = Object.create(this);
    twin.V = this.core.zeros("float64", V.length);
    const { view } = twin.V;
    view.set(V.view);
    for (let i = 0; i < N; i++) for (const j of silenced) view[i * (M + bias) + j] = 0;
    return twin;
  }

  /** Draw the weights of the constant unit: to hidden neurons, to visible ones, and in P. */
  #drawBiases(P) {
    const { M, N, rng, parameters } = this, wide = N + 1;
    const signed = (size) => Array.from({ length: M }, () => (rng.integers(0, 2) ? size : -size));
    this.setBias(this.U, parameters.learns === "UV" ? signed(HOLD).map((size) => size * SCALE) : Array.from(rng.standardNormals(M), (b) => b * SCALE));
    this.setBias(this.V, Array.from(rng.standardNormals(N), (b) => b * SCALE));
    signed(1).forEach((sign, i) => {
      let largest = 0, all = 0;
      for (let k = i * wide; k < i * wide + N; k++) {
        largest = Math.max(largest, Math.abs(P[k]));
        all += Math.abs(P[k]);
      }
      // Else a hidden target would be constant, or a copy of one unit of the next pattern.
      P[i * wide + N] = inSteps(sign * (Math.abs(largest - 1) < all - largest ? 1 : largest), 1);
    });
  }

  check() {
    this.checkSums(this.U, this.M, "U_");
    if (this.parameters.learns !== "hebbian") this.checkSums(this.V, this.N, "V_");
  }

  engine() {
    const { core, U, V, x, z, targets, n, M, N, inputs, bias } = this;
    return new TwoLayers(core, { U, V, x: this.seen(x, inputs), z, targets, n, M, N, inputs: inputs + bias, kappa: this.kappaInSteps, bias });
  }

  /** Hebbian V is learned in one go, without epochs to report. */
  *learn(most) {
    if (this.parameters.learns !== "hebbian") {
      yield* super.learn(most);
      return;
    }
    const { n, N, M, bias, targets } = this, wide = M + bias;
    const y = this.seen(this.hiddenStates(this.x, n), M), V = this.V.view;
    for (let t = 0; t < n; t++) for (let i = 0; i < N; i++) for (let k = 0; k < wide; k++) V[i * wide + k] += targets[t * N + i] * y[t * wide + k];
    this.converged = this.nextPatterns(this.x, n).every((value, k) => value === targets[k]);
  }

  hiddenStates(x, n) {
    return this.states(this.U, this.M, this.inputs + this.bias, this.seen(x, this.inputs), n);
  }

  nextPatterns(x, n) {
    return this.states(this.V, this.N, this.M + this.bias, this.seen(this.hiddenStates(x, n), this.M), n);
  }

  get layers() {
    return [this.layer(this.U, this.M, this.inputs), this.layer(this.V, this.N, this.M)];
  }

  get size() {
    return this.U.length + this.V.length;
  }
}

/** The network without hidden neurons, eq. (1). */
export class VisibleNetwork extends InSteps {
  constructor(parameters, data, tools) {
    super(parameters, data, tools);
    this.W = this.drawn(this.N, this.inputs);
    if (this.bias) this.setBias(this.W, Array.from(this.rng.standardNormals(this.N), (b) => b * SCALE));
    this.check();
  }

  check() {
    this.checkSums(this.W, this.N, "W_");
  }

  engine() {
    const { core, W, x, targets, n, N, inputs, bias } = this;
    return new OneLayer(core, { W, x: this.seen(x, inputs), targets, n, N, inputs: inputs + bias, kappa: this.kappaInSteps });
  }

  nextPatterns(x, n) {
    return this.states(this.W, this.N, this.inputs + this.bias, this.seen(x, this.inputs), n);
  }

  get layers() {
    return [this.layer(this.W, this.N, this.inputs)];
  }

  get size() {
    return this.W.length;
  }
}
