// The card in which a sequence is picked, drawn or dropped. Options of a sequence come with the catalogue; drawn and dropped frames are
// settings themselves. After a change the sequence is asked for, and what it makes out of date is taken from the page.

import * as api from "./api.js";
import { unpack } from "./bits.js";
import { debounced } from "./busy.js";
import { choice, slider } from "./controls.js";
import { buildCueFields } from "./cue.js";
import { Drawing } from "./drawing.js";
import { howToRead, prepared } from "./files.js";
import { attempt, complain } from "./messages.js";
import { $ } from "./names.js";
import { buildNetworks, sayDegrees } from "./networks.js";
import { changed, entryOf, lab, outdated, sequenceKey, settings } from "./state.js";
import { markTile } from "./tiles.js";

const pick = (object, names) => Object.fromEntries(names.filter((n) => n in object).map((n) => [n, object[n]]));

const OWN_FLIPS = 20; // percent, of the visitor's own frames; nobody knows how hard they are

let reads = 0;
let loads = 0; // answers to older questions are dropped

/** The editor of frames drawn by hand. */
export const drawing = new Drawing((sequence) => {
  settings.sequence = sequence;
  changedSequence();
});

/** Take another sequence, with settings with which it can be learned. */
export function chooseSource(name) {
  settings.source = name;
  complain("");
  $("upload-name").textContent = $("file").value = "";
  const entry = entryOf(name);
  if (!entry) settings.cue.flips = OWN_FLIPS;
  if (entry) {
    settings.sequence = { name };
    for (const network of settings.networks) Object.assign(network, { epochs: 500, eta: 0.001, order: 1 }, pick(entry.suggest, ["hidden", "order"]));
    settings.cue = { ...settings.cue, start: 0, painted: [], occlusion: 0, noise: 0, flips: entry.suggest.flips, seed: 1 };
    buildNetworks();
  }
  showChoice();
  if (name === "draw") drawing.tell();
  else if (entry) changedSequence();
}

/** Show which sequence is chosen, and its options. */
export function showChoice() {
  markTile(lab.catalogue, settings.source, settings.sequence.name === "frames");
  const fields = (entryOf(settings.source)?.options ?? []).map((option) => {
    const value = settings.sequence[option.name] ?? option.default;
    const change = (next) => { settings.sequence = { ...settings.sequence, [option.name]: next }; changedSequence(); };
    if (option.choices) return choice({ label: option.label, choices: option.choices, value, change });
    return slider({ label: option.label, low: option.low, high: option.high, value, change });
  });
  $("sequence-options").replaceChildren(...fields);
}

/** The sequence is another one: what was painted and learned does not fit it any more. */
function changedSequence() {
  settings.cue.painted = [];
  settings.cue.start = 0;
  outdated();
  buildCueFields();
  loadSoon();
}

const loadSoon = debounced(() => loadSequence(), 150);

/** Ask for the sequence of the settings and show it. */
export async function loadSequence() {
  const mine = ++loads;
  const wanted = sequenceKey();
  lab.lost = false;
  const answer = await attempt(() => api.post("sequence", settings.sequence), () => mine === loads);
  if (mine !== loads) return;
  lab.lost = !answer;
  if (lab.lost) return;
  lab.materialKey = wanted;
  lab.material = { ...answer, bits: unpack(answer.bits, answer.frames * answer.units) };
  settings.cue.start = Math.min(settings.cue.start, answer.frames - 2);
  settings.raster = answer.kind !== "pictures";
  buildCueFields();
  sayDegrees();
  await changed({ play: true });
}

let dropped = []; // what was sent last, to be read again in another way

/** Read the same files again, in another way. */
export const rereadFiles = () => takeFiles(dropped);

/** Send files to the server and take what it reads in them. */
export async function takeFiles(files) {
  if (!files.length) return;
  const say = (words) => { $("upload-name").textContent = words; };
  dropped = files = await prepared(files, say);
  const total = files.reduce((sum, file) => sum + file.size, 0);
  const most = lab.catalogue.limits.upload;
  if (total > most) {
    say("");
    complain(`The files have ${(total / 1e6).toFixed(1)} MB; the lab takes up to ${most / 1e6} MB.`);
    return;
  }
  say("Reading …");
  const mine = ++reads;
  const answer = await attempt(() => api.upload(files, howToRead()), () => mine === reads);
  if (mine !== reads) return;
  $("upload-name").textContent = answer ? `${files.length > 1 ? `${files.length} pictures` : files[0].name}: ${answer.frames} frames of ${sayUnits(answer)}` : "";
  if (!answer) return;
  if (settings.source !== "file") settings.cue.flips = OWN_FLIPS;
  settings.source = "file";
  settings.sequence = { name: "frames", ...pick(answer, ["shape", "units", "lengths", "kind", "bits", ...(answer.code ? ["code"] : []), ...(answer.pitches ? ["pitches"] : [])]) };
  showChoice();
  changedSequence();
}

/** How many units a frame has, and of grey and colour how they come about. */
function sayUnits({ shape: [rows, columns], units, code }) {
  if (!code) return `${units} units`;
  return `${columns} × ${rows} pixels, ${code.bits * code.channels} units each: ${units} units`;
}
