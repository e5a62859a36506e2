// What the parts of the page share: the settings, what the server made of them, and what is to be shown. Settings are what the visitor
// chose and what a link carries; `lab` is what came of them, each with a key that says which settings it belongs to, so that nothing old
// stays.

import { debounced } from "./busy.js";
import { encode } from "./link.js";

const defaults = { name: "attractor", hidden: 150, kappa: 1, eta: 0.001, bias: 0, epochs: 500, order: 1, degree: 0, seed: 0 };

/** All that a link restores. Flips, cover and noise are in percent. */
export const settings = {
  source: "walker",
  sequence: { name: "walker" },
  networks: [{ ...defaults }, { ...defaults, name: "perceptron" }],
  compare: false,
  cue: { start: 0, flips: 40, occlusion: 0, noise: 0, seed: 10, painted: [] },
  raster: false,
};

/** What came from the server. */
export const lab = {
  catalogue: null,
  material: null, // the sequence as the server made it, bits unpacked
  materialKey: null, // the settings that it was made from
  lost: false, // whether it was asked for in vain
  cueBits: null, // the corrupted cue
  cueKey: null, // the settings that it was made from, but for what was painted
  curves: { key: null, all: [] }, // errors of each epoch, for each network, and the settings that were or are learned with
  said: null, // how learning went, as { key, words }: it holds for these settings
  epochs: null, // how many each network has learned, 0 for those that learn in one go; null where one has not begun
  learnedKey: null, // the settings that the networks on the server have learned
  canContinue: false,
  running: false,
  advice: null, // what to look for in an experiment, as { key, words }: it holds for these settings
  failure: null, // why learning failed, likewise
  inside: { network: 0, epoch: null, silenced: [] }, // which network is looked at, and what is changed in it: back to an epoch, neurons silenced
};

export const networksInUse = () => (settings.compare ? settings.networks : settings.networks.slice(0, 1));
export const entryOf = (name) => lab.catalogue.sequences.find((s) => s.name === name);

/** So many percent of the units of the sequence that is loaded. */
export const units = (percent) => Math.round(((lab.material?.units ?? 0) * percent) / 100);

/** How many past patterns each network sees: what it was saved with, or as many as needed where that is left open. */
const savedOrder = (name) => lab.catalogue.networks.find((n) => n.name === name)?.order;
export const ordersInUse = () => networksInUse().map((n) => savedOrder(n.name) ?? (n.order || Math.min(lab.material?.context ?? 1, lab.catalogue.limits.order)));

/** The sequence, of these lengths one after the other, in which a row stands, and its first row. */
export function sequenceAt(lengths, row) {
  let s = 0, first = 0;
  while (s + 1 < lengths.length && row >= first + lengths[s]) first += lengths[s++];
  return { s, first };
}

/** The row of the sequence that is so many frames after the first of the cue; loops go round. */
export function rowOfCue(count) {
  const { lengths, loop } = lab.material;
  const { s, first } = sequenceAt(lengths, settings.cue.start);
  const frame = settings.cue.start - first + count;
  return first + (loop[s] ? frame % (lengths[s] - 1) : Math.min(frame, lengths[s] - 1));
}

// Settings as the server takes them.
export const cueSpec = () => ({
  start: settings.cue.start, seed: settings.cue.seed, painted: settings.cue.painted,
  flips: units(settings.cue.flips), noise: units(settings.cue.noise), occlusion: settings.cue.occlusion / 100,
});
export const learnSpec = () => ({ sequence: settings.sequence, networks: networksInUse() });
export const learnKey = () => JSON.stringify(learnSpec());
export const sequenceKey = () => JSON.stringify(settings.sequence);
export const cueKey = () => JSON.stringify([settings.sequence, { ...cueSpec(), painted: [] }, Math.max(...ordersInUse())]);

export const isLoaded = () => lab.material !== null && lab.materialKey === sequenceKey();
export const isLearned = () => lab.learnedKey !== null && lab.learnedKey === learnKey();

/** What is changed in a network that has learned, as the server takes it. */
export const insideSpec = () => ({ inside: { network: lab.inside.network, silenced: lab.inside.silenced, ...(lab.inside.epoch ? { epoch: lab.inside.epoch } : {}) } });
export const isChanged = () => lab.inside.epoch !== null || lab.inside.silenced.length > 0;
export const weightsKey = () => JSON.stringify([lab.learnedKey, lab.epochs, lab.inside.network, lab.inside.epoch]);

/** What was said of settings, if they still stand. */
export const ifStill = (said) => (said?.key === learnKey() ? said.words : "");

/** The errors of each epoch, if they belong to the settings as they are. */
export const currentCurves = () => (lab.curves.key === learnKey() ? lab.curves.all : []);

/** Whether a link restores the result, too. */
export const hasResult = () => isLearned() && lab.epochs !== null;

/** The end of a link that restores the settings, and the result where there is one; null where it would be too long. */
export const linkEnd = () => encode(hasResult() ? { ...settings, learned: lab.epochs } : settings);

/** Keep the address in step with the settings, so that reloading and copying it restore them. */
export function remember() {
  history.replaceState(null, "", linkEnd() ?? location.pathname);
}

let show = null;

/** Say what brings the page up to date after a change. */
export const onChange = (action) => { show = action; };

/** Bring the page up to date; `play` also starts to play. */
export const changed = (how = {}) => show(how);

/** The same once the visitor pauses. */
export const changedSoon = debounced(() => changed(), 120);

/** Take from the page what does not hold any more, and ask for nothing yet. */
export const outdated = () => show({ ask: false });
