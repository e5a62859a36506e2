// The lab without a server: answers to the page's requests, with the addresses, fields and sentences of lab/api.py. It runs in the worker, and in
// Node for the tests.

import { certifiedRadii } from "./certificate.js";
import { pythonCode } from "./code.js";
import { Fields } from "./fields.js";
import { changed, neuron, readInside, wiring } from "./inside.js";
import { Materials } from "./materials.js";
import { PaperNetwork, VisibleNetwork } from "./networks.js";
import { sequenceFile } from "./npz.js";
import { asJson, corruptedCue, packed, readCue, recall, stepsFor } from "./recall.js";
import { lockedOn, TRIALS } from "./rates.js";
import { closeLoops, findConflicts, Rejection } from "./sequences.js";
import { SparseNetwork } from "./sparse.js";

const SLICE = 40; // milliseconds of learning, after which other requests have their turn
const ABOVE = "download them from the lab on your own machine: pip install 'seqattractor[lab]', then seqattractor lab";

const ADDRESSES = [
  "catalogue", "visit", "leave", "sequence", "learn", "continue", "stop", "progress", "recall", "promise", "rates", "wiring", "neuron", "code", "download",
];

/** The networks of the playground, by their names in the library's registry. */
const NETWORKS = {
  attractor: (...given) => new PaperNetwork(...given),
  "attractor-V": (...given) => new PaperNetwork(...given),
  "attractor-hebbian": (...given) => new PaperNetwork(...given),
  perceptron: (...given) => new VisibleNetwork(...given),
  sparse: (...given) => new SparseNetwork(...given),
};
const LEARNS = { "attractor-V": "V", "attractor-hebbian": "hebbian" };

/** What a lab sees so many past patterns with. */
const toSee = (order, most) => (order <= most ? `set "Past patterns it sees" to ${order}, under "More settings"` : `the lab offers up to ${most}, so choose another sequence`);

const asSentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Why learning failed, with places counted from 1 and the remedy on the page. */
function whyNotLearned(error, most) {
  const counted = asSentence(error.message).replace(/\bpattern (?=\d)/gi, "frame ")
    .replace(/\b(frame|value|sequence) (\d+)\b/gi, (_, what, place) => `${what} ${Number(place) + 1}`);
  return asSentence(counted.replace(/use order=(\d+)/g, (_, order) => toSee(Number(order), most)));
}

/** How many past patterns a network will look at: as many as resolve all conflicts, where that is left open. */
const settledOrder = (choice, data) => choice.order || findConflicts(data).context || 1;

export class Lab {
  /** `data` are what `seqattractor lab --export` writes beside the page; `module` is the compiled core. */
  constructor(data, module) {
    this.data = data;
    this.limits = data.limits;
    this.materials = new Materials({ ...data, sequences: data.catalogue.sequences });
    this.tools = { module, normal: data.normal };
    this.job = null;
  }

  /** Answer a request: JSON, a text, a file {name, bytes}, or a stream of events. */
  async answer(path, body) {
    const asked = ADDRESSES.includes(path) ? this[path] : null;
    if (!asked) throw new Rejection(404, `The playground does not do this; ${ABOVE}.`);
    return asked.call(this, new Fields(body ?? {}, "request"));
  }

  catalogue() {
    return this.data.catalogue;
  }

  visit() {
    return { visit: "playground" };
  }

  leave() {
    return {};
  }

  sequence(spec) {
    const { x, N, lengths, loops, kind, code, pitches, shape, ...data } = this.materials.make(spec, this.limits);
    const context = findConflicts({ ...data, x, N, lengths }).context ?? 1;
    return { frames: x.length / N, units: N, shape, lengths, loop: loops, kind, code, pitches, bits: packed(x), context, degrees: [] };
  }

  // -- learning

  learn(spec) {
    spec.only("sequence", "networks");
    const chosen = this.#chosen(spec), data = this.materials.make(spec.object("sequence"), this.limits);
    for (const choice of chosen) this.#checkSize(choice, data);
    this.job?.stop();
    this.job = new Job(chosen, data, this.tools, this.limits);
    this.job.run(null);
    return { ahead: 0 };
  }

  continue(spec) {
    const epochs = spec.whole("epochs", 500, 1, this.limits.epochs), job = this.#theJob();
    if (job.running) throw new Rejection(409, "The network is still learning; stop it first.");
    if (job.state === "failed" || !job.networks.length) throw new Rejection(409, "There is nothing to continue; learn first.");
    job.run(epochs);
    return { ahead: 0 };
  }

  stop() {
    this.#theJob().stop();
    return this.job.summary();
  }

  progress() {
    return this.#theJob().events();
  }

  // -- recall

  recall(spec) {
    spec.only("cue", "sequence", "orders", "inside");
    const { normal } = this.data;
    if (spec.has("sequence")) {
      const data = this.materials.make(spec.object("sequence"), this.limits), orders = spec.wholes("orders", 1, this.limits.order, 2);
      const rows = corruptedCue(data, readCue(spec.object("cue"), data), Math.max(1, ...orders), normal);
      return { cue: packed(rows.subarray(rows.length - data.N)) };
    }
    return this.#changed(spec, (nets, data) => {
      const cue = readCue(spec.object("cue"), data), order = Math.max(...nets.map((net) => net.order));
      const rows = corruptedCue(data, cue, order, normal), steps = stepsFor(data, cue.start, order, this.limits);
      const runs = nets.map((net) => recall(net, data, cue, rows, steps, normal));
      return {
        cue: packed(rows.subarray(rows.length - data.N)), rows: runs[0].K, cue_rows: order,
        runs: runs.map((outcome, k) => asJson(nets[k], outcome)),
      };
    });
  }

  rates(spec) {
    spec.only("cue");
    const { data, nets } = this.#learned();
    return { trials: TRIALS, locked_on: lockedOn(nets, data, readCue(spec.object("cue"), data), this.limits, this.data.normal) };
  }

  wiring(spec) {
    spec.only("inside");
    return this.#changed(spec, (nets, data, { network }) => wiring(nets[network]));
  }

  neuron(spec) {
    spec.only("neuron", "inside");
    const number = spec.whole("neuron", 0, 0, this.limits.units);
    return this.#changed(spec, (nets, data, { network }) => neuron(this.job, nets[network], number));
  }

  /** Do something with the networks that have learned, one of which a request may have changed for the time being. */
  #changed(spec, action) {
    const { data, nets } = this.#learned(), inside = readInside(spec, this.limits), net = nets[inside.network] ?? nets[0];
    const all = changed({ ...inside, silenced: [] }, this.job, nets); // an epoch that is learned again has a memory of its own
    return (all[inside.network] ?? net).core.aside(() => action(changed({ ...inside, epoch: null }, this.job, all), data, inside));
  }

  promise() {
    const { data, nets } = this.#learned();
    this.job.radii ??= nets.map((net) => certifiedRadii(net, data, closeLoops(data, net.order)));
    return { radii: this.job.radii };
  }

  // -- to take away

  code(spec) {
    spec.only("sequence", "networks", "cue", "inside");
    const data = this.materials.make(spec.object("sequence"), this.limits), chosen = this.#chosen(spec);
    const orders = chosen.map((choice) => settledOrder(choice, data)), cue = readCue(spec.object("cue"), data);
    corruptedCue(data, cue, Math.max(...orders), this.data.normal); // rejected where nothing is left to recall
    const steps = stepsFor(data, cue.start, Math.max(...orders), this.limits);
    return pythonCode(data, chosen, orders, cue, steps, readInside(spec, this.limits));
  }

  download(spec) {
    const what = spec.choice("what", "", ["sequence", "model", "gif", "figure"]);
    if (what !== "sequence") throw new Rejection(404, `The playground has no models, GIFs and figures to take away; ${ABOVE}.`);
    return { name: "sequence.npz", bytes: sequenceFile(this.materials.make(spec.object("sequence"), this.limits)) };
  }

  // -- what requests have in common

  #theJob() {
    if (!this.job) throw new Rejection(409, "Nothing has been learned yet; press the button to learn.");
    return this.job;
  }

  #learned() {
    const job = this.#theJob();
    if (job.running) throw new Rejection(409, "The network is still learning; wait for it or stop it.");
    if (job.state === "failed") throw new Rejection(409, job.note);
    const nets = job.networks.filter((net) => net?.learned);
    if (!nets.length) throw new Rejection(409, "Learning was stopped before its first epoch; learn again.");
    return { data: job.data, nets };
  }

  /** The networks of a request, with all settings. */
  #chosen(spec) {
    const { limits } = this;
    return spec.objects("networks", 1, 2).map((network) => {
      const name = network.choice("name", "attractor", Object.keys(NETWORKS));
      network.only("name", "hidden", "kappa", "eta", "bias", "epochs", "order", "degree", "seed");
      const { settings } = this.data.catalogue.networks.find((entry) => entry.name === name);
      const all = {
        hidden: network.whole("hidden", 200, 1, limits.hidden),
        kappa: network.number("kappa", 1, 1e-6, 1e6),
        eta: network.number("eta", 1e-3, 1e-6, 1e3),
        bias: network.whole("bias", 0, 0, 1),
        epochs: network.whole("epochs", 500, 1, limits.epochs),
        order: network.whole("order", 1, 0, limits.order),
        seed: network.whole("seed", 0, 0, 9999),
      };
      const offered = Object.fromEntries(settings.map((setting) => [setting, all[setting]]));
      return { kappa: 1, eta: 1e-3, bias: 0, epochs: 500, ...offered, name, settings, learns: LEARNS[name] ?? "UV" };
    });
  }

  /** Reject a network that would be too large, or that sees more patterns than there are. */
  #checkSize(choice, data) {
    const { limits } = this, order = settledOrder(choice, data);
    if (order > limits.order) {
      throw new Rejection(413, `A network must see the past ${order} patterns to predict what follows in this sequence, but ${toSee(order, limits.order)}.`);
    }
    const { lengths } = closeLoops(data, order), frames = Math.min(...lengths), s = lengths.indexOf(frames);
    if (frames <= order) {
      const which = lengths.length > 1 ? `Sequence ${s + 1}` : "The sequence", few = `too few for a network that sees the past ${order} and predicts the next`;
      throw new Rejection(400, `${which} has only ${frames} frames, ${few}; ${toSee(frames - 1, limits.order)}, or take a longer one.`);
    }
    const { hidden } = choice, weights = hidden ? hidden * data.N * (order + 2) : data.N * data.N * order;
    if (weights > limits.weights) {
      const kind = hidden ? `and ${hidden} hidden neurons` : "without hidden neurons", smaller = hidden ? "fewer hidden neurons or smaller patterns" : "smaller patterns";
      const size = `would have ${(weights / 1e6).toFixed(1)} million weights; the lab goes up to ${(limits.weights / 1e6).toFixed(1)} million`;
      throw new Rejection(413, `A network of ${data.N} units ${kind} ${size}; use ${smaller}, or the library on your own machine.`);
    }
  }
}

/** Networks while they learn one sequence, one after the other; other requests have their turn every few milliseconds. */
class Job {
  constructor(chosen, data, tools, limits) {
    Object.assign(this, { chosen, data, tools, limits, networks: [], state: "waiting", note: "", radii: null });
    this.scores = chosen.map(() => null);
    this.errors = chosen.map(() => []);
    this.waiting = []; // who wants to know of news
  }

  /** A network that has not learned yet. */
  make(k) {
    const choice = this.chosen[k];
    return NETWORKS[choice.name](choice, closeLoops(this.data, settledOrder(choice, this.data)), this.tools);
  }

  get running() {
    return ["waiting", "learning"].includes(this.state);
  }

  stop() {
    this.stopped = true;
  }

  /** Learn, or with some epochs continue to learn. */
  async run(more) {
    Object.assign(this, { state: "waiting", note: "", stopped: false, radii: null, again: null });
    await pause();
    try {
      this.state = "learning";
      for (const [k, choice] of this.chosen.entries()) {
        if (this.stopped) break;
        this.networks[k] ??= this.make(k);
        const net = this.networks[k];
        if (more !== null && net.learned && (net.converged || !this.errors[k].length)) continue; // in one go, or without errors left
        await this.#learn(k, net.learned ? net.resume(more) : net.learn(choice.epochs));
        net.learned = true;
        this.scores[k] = net.score;
      }
      this.state = this.stopped ? "stopped" : "done";
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.note = error instanceof TypeError || error instanceof ReferenceError ? `Learning failed unexpectedly (${error.message}).` : whyNotLearned(error, this.limits.order);
      this.state = "failed";
    }
    this.#tell();
  }

  async #learn(k, epochs) {
    let next = performance.now() + SLICE;
    for (const errors of epochs) {
      this.errors[k].push(errors);
      if (performance.now() > next) {
        this.#tell();
        await pause();
        next = performance.now() + SLICE;
      }
      if (this.stopped) break;
    }
  }

  #tell() {
    for (const wake of this.waiting.splice(0)) wake();
  }

  /** The errors of each epoch, as they come, until learning ends. */
  async* events() {
    const seen = this.chosen.map(() => 0);
    for (;;) {
      const { running } = this, news = [];
      this.errors.forEach((errors, network) => {
        const some = errors.slice(seen[network]);
        if (some.length) news.push({ network, from: seen[network], hidden: some.map(([hidden]) => hidden), visible: some.map(([, visible]) => visible) });
        seen[network] += some.length;
      });
      if (news.length) yield { epochs: news };
      if (!running) break;
      await new Promise((wake) => { this.waiting.push(wake); });
    }
    yield { end: this.summary() };
  }

  summary() {
    const networks = this.chosen.map((_, k) => (
      {
        epochs: this.errors[k].length, converged: this.networks[k]?.learned ? this.networks[k].converged : null, right: this.scores[k],
        degree: null, learns: true,
      }));
    return { state: this.state, note: this.note, networks };
  }
}

/** Let other requests have their turn. */
const pause = () => new Promise((resume) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { port1.close(); resume(); };
  port2.postMessage(null);
});
