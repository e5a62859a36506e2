// Looks inside the networks: single hidden neurons, networks without some of them, and networks as they were after an epoch. The counterpart of
// lab/neurons.py.

import { pack } from "../bits.js";
import { rint } from "./networks.js";
import { firsts, Rejection } from "./sequences.js";

const SHOWN = 48; // hidden neurons on the page at a time
const STRONGEST = 3; // connections of each of them, in either direction

/** What is changed in one of the networks before it is looked at or recalls; by default nothing. */
export function readInside(spec, limits) {
  const inside = spec.object("inside");
  inside.only("network", "epoch", "silenced");
  return {
    network: inside.whole("network", 0, 0, 1),
    epoch: inside.has("epoch") ? inside.whole("epoch", 1, 1, limits.epochs) : null,
    silenced: [...new Set(inside.wholes("silenced", 0, limits.units, limits.units))].sort((a, b) => a - b),
  };
}

/** The networks of a job, with one of them changed. */
export function changed({ network, epoch, silenced }, job, nets) {
  const all = [...nets];
  if (network >= all.length) throw new Rejection(409, "The second network has not learned yet.");
  if (epoch !== null) all[network] = atEpoch(job, network, epoch);
  if (silenced.length) {
    checkNeuron(silenced.at(-1), hiddenLayer(all[network]));
    all[network] = all[network].without(silenced);
  }
  return all;
}

/** Learn again up to an epoch; the last network that was made so is kept. */
function atEpoch(job, k, epoch) {
  const errors = job.errors[k];
  if (!errors.length) throw new Rejection(409, "This network was not learned epoch by epoch.");
  if (epoch > errors.length) throw new Rejection(400, `The network has learned ${errors.length} epochs; choose one of them.`);
  if (job.again?.k === k && job.again.epoch === epoch) return job.again.net;
  const net = job.make(k), found = [];
  for (const each of net.learn(job.chosen[k].epochs)) {
    found.push(each);
    if (found.length === epoch) break;
  }
  if (found.length < epoch || found.some(([, visible], e) => visible !== errors[e][1])) {
    throw new Rejection(409, "Learning was continued, so its epochs cannot be learned again one by one.");
  }
  job.again = { k, epoch, net };
  return net;
}

function hiddenLayer(net) {
  if (!net.hiddenStates) throw new Rejection(409, "This network has no hidden neurons.");
  return net.layers[0];
}

function checkNeuron(j, hidden) {
  if (j >= hidden.m) throw new Rejection(400, `There are ${hidden.m} hidden neurons, not ${j + 1}.`);
}

/** The units of the strongest weights, each with the sign of its weight. */
function strongest(weights) {
  const units = Array.from(weights, (_, unit) => unit).sort((a, b) => Math.abs(weights[b]) - Math.abs(weights[a]) || a - b);
  return units.slice(0, STRONGEST).filter((unit) => weights[unit]).map((unit) => [unit, Math.sign(weights[unit])]);
}

const column = (layer, j) => Float64Array.from({ length: layer.m }, (_, i) => layer.row(i)[j]);

/** Some hidden neurons, evenly taken, with their strongest connections from the newest pattern and to the next one. */
export function wiring(net) {
  const hidden = hiddenLayer(net), visible = net.layers[1], { m: M, low } = hidden, count = Math.min(M, SHOWN);
  const even = Array.from({ length: count }, (_, k) => (k === count - 1 ? M - 1 : rint(k * ((M - 1) / (count - 1)))));
  const neurons = [...new Set(count === 1 ? [0] : even)];
  return {
    hidden: M, low, neurons,
    inputs: neurons.map((j) => strongest(hidden.row(j).slice(-net.N))),
    outputs: neurons.map((j) => strongest(column(visible, j))),
  };
}

/** Numbers as float64 in base64. */
function inBase64(numbers) {
  let text = "";
  for (const byte of new Uint8Array(Float64Array.from(numbers).buffer)) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The weights of hidden neuron j in both directions, and what it is to do before the successor of each row. */
export function neuron(job, net, j) {
  const hidden = hiddenLayer(net), visible = net.layers[1];
  checkNeuron(j, hidden);
  const first = firsts(net.lengths), rows = job.data.lengths.flatMap((length, s) => Array.from({ length }, (_, t) => first[s] + t)).slice(1);
  const scaled = ({ unit = 1 }, numbers) => inBase64(Array.from(numbers, (number) => number * unit));
  return {
    inputs: scaled(hidden, hidden.row(j)), outputs: scaled(visible, column(visible, j)), offset: hidden.offset(j) * (hidden.unit ?? 1),
    kappa: net.targetsOf ? net.kappaInSteps : null,
    targets: net.targetsOf ? pack(rows.map((row) => Number(net.targetsOf(row, j) > 0))) : null,
  };
}

/** What is added to the arguments of `fit` in the code of a network, and the lines after it. */
export function codeOf({ epoch, silenced }, net) {
  const until = epoch ? `, callback=lambda epoch, *errors: epoch >= ${epoch}` : "";
  const changes = [`V = ${net}.V_.copy()`, `V[:, [${silenced.join(", ")}]] = 0  # silenced hidden neurons`, `${net}.V_ = V`];
  return { until, changes: silenced.length ? changes : [] };
}
