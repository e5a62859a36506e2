// The card of the recall: what is on the stage, how it is played, and the verdict on it. `refresh` is the heart of the page: after every
// change it asks the server for the recall, or before learning for the cue, drops answers that are out of date, and shows what came.

import * as api from "./api.js";
import { unpack } from "./bits.js";
import { ifLong } from "./busy.js";
import { showErrors, stepAt } from "./charts.js";
import { drawCue } from "./cue.js";
import { attempt, complain } from "./messages.js";
import { $ } from "./names.js";
import { markRadii, showNoise } from "./noise.js";
import { Player } from "./player.js";
import { forgetCopies, offerDownloads, updateCode } from "./share.js";
import { loadSequence } from "./sequence.js";
import { playStep, setSound } from "./sound.js";
import { Strip } from "./strip.js";
import { previewScene, recallScene, sayMoment, Stage } from "./stage.js";
import { cueKey, cueSpec, currentCurves, ifStill, insideSpec, isChanged, isLearned, isLoaded, lab, learnKey, ordersInUse, remember, rowOfCue, settings } from "./state.js";
import { note } from "./undo.js";
import { addPromises, showAdvice, showNoVerdict, showRates, showVerdicts } from "./words.js";

/** Whether the visitor asked for little motion. */
export const calm = matchMedia("(prefers-reduced-motion: reduce)");

let proven = { radii: null }; // of the networks that have learned
let ticket = 0; // answers to older questions are dropped
let shownCue = null; // the cue that the recall on the stage began with
const cueKeyPainted = () => JSON.stringify([settings.sequence, cueSpec()]);
const stage = new Stage();
const strip = new Strip((row) => { player.pause(); player.go(row); });

const SLOW = [4, 4, 3.2, 2.5, 1.8, 1.3]; // times longer: the first steps are the drama
const watchers = [];

/** Do something whenever another moment is shown, called with the scene (null where there is none) and its row. */
export const watch = (action) => watchers.push(action);

const player = new Player((now) => {
  stage.draw(now);
  strip.draw(stage.scene, now);
  const moment = stage.scene ? sayMoment(stage.scene, now) : "";
  $("step").value = moment;
  $("scrub").setAttribute("aria-valuetext", moment);
  for (const action of watchers) action(stage.scene, now);
  const { material } = lab;
  if (stage.scene && material?.pitches && player.timer && $("sound").getAttribute("aria-pressed") === "true") {
    const bits = stage.scene.runs[0][stage.scene.preview ? "truth" : "bits"];
    playStep(material.pitches, bits, now * material.units, now ? (now - 1) * material.units : null, 1 / Number($("speed").value));
  }
});

/** What is to be done where nothing was recalled. */
function whatNow() {
  if (lab.running ? lab.curves.key !== learnKey() : lab.learnedKey !== null && !isLearned()) return "The settings have changed: learn again to see the recall.";
  return isLearned() ? "There is no recall to show." : "The network will get the corrupted cue and must find the sequence.";
}

/** Take away what was recalled from something else, with all that was said of it. */
function clear() {
  player.pause();
  empty(whatNow());
  player.load(1);
  offerDownloads(0);
}

/** Show nothing but a sentence; where the player stands is kept. */
function empty(sentence) {
  showNoise(null, () => {});
  stage.clear();
  strip.draw(null, 0);
  $("step").value = "";
  showNoVerdict(sentence);
  $("legend-recall").hidden = true;
  for (const action of watchers) action(null, 0);
  if (!isLoaded() || lab.cueKey !== cueKey()) lab.cueBits = null;
  drawCue();
  markView();
}

/** Take from the page what does not hold for the settings as they are. */
function dropOld(ask) {
  forgetCopies(ask);
  complain(ifStill(lab.failure));
  if (!lab.running) $("status").textContent = ifStill(lab.said);
  showErrors(currentCurves());
  showAdvice(ifStill(lab.advice));
  $("sound").hidden = !isLoaded() || !lab.material.pitches;
  if (!isLearned()) {
    $("continue").hidden = true;
    $("go").textContent = "Learn and recall";
    $("go").classList.remove("quiet");
    lab.inside = { network: 0, epoch: null, silenced: [] };
    $("inside-note").hidden = true;
  }
  if (!isLoaded() || (!isLearned() && stage.scene && !stage.scene.preview)) clear();
}

/** Bring cue and stage up to date: recall if the networks have learned this, else show what they will get. */
export async function refresh({ play = false, ask = true } = {}) {
  dropOld(ask);
  if (!ask) return;
  remember();
  note();
  updateCode();
  if (!isLoaded()) { // what is under way ends with a refresh of its own
    if (lab.lost) await loadSequence();
    return;
  }
  const mine = ++ticket;
  const learned = isLearned() && !lab.running;
  const orders = ordersInUse();
  const made = cueKey();
  const before = stage.scene;
  const question = learned ? { cue: cueSpec(), ...insideSpec() } : { cue: cueSpec(), sequence: settings.sequence, orders };
  const recall = () => attempt(() => api.post("recall", question), () => mine === ticket);
  const answer = await ifLong(recall, () => { if (mine === ticket) empty(learned ? "Recalling …" : whatNow()); });
  if (mine !== ticket) return;
  if (!answer) {
    if (learned && !isLearned()) { // the server has forgotten it
      await refresh();
      complain("The lab has forgotten what was learned, because it was idle for long or was started again. Learn again.");
    } else if (learned && isChanged()) { // such as an epoch that takes too long to learn again
      const why = $("alert").querySelector("span").textContent;
      lab.inside = { ...lab.inside, epoch: null, silenced: [] };
      await refresh();
      complain(why);
    } else clear();
    return;
  }
  lab.cueBits = unpack(answer.cue, lab.material.units);
  lab.cueKey = made;
  drawCue();
  stage.load(learned ? recallScene(lab.material, answer) : previewScene(lab.material, lab.cueBits, rowOfCue(Math.max(...orders) - 1)), settings.raster);
  if (learned) showVerdicts(answer.runs, answer.cue_rows);
  else showNoVerdict(whatNow());
  player.looping = !learned;
  player.slow = (row) => (learned ? SLOW[row - answer.cue_rows + 1] ?? 1 : 1);
  const asked = cueKeyPainted();
  const another = learned && shownCue !== asked; // another cue is seen from its beginning
  shownCue = asked;
  player.load(stage.scene.steps, { keep: !play && !another && before?.preview === stage.scene.preview });
  if ((play || (another && document.activeElement !== $("cue-canvas"))) && !calm.matches) player.play();
  $("go").textContent = learned ? "Learn again" : "Learn and recall";
  $("go").classList.toggle("quiet", learned);
  $("legend-recall").hidden = !learned;
  const one = stage.scene.runs.length < 2;
  $("legend-a").textContent = one ? "overlap with the truth" : "overlap of A with the truth";
  $("legend-b").hidden = one;
  $("continue").hidden = !learned || !lab.canContinue;
  $("legend-locked").hidden = !stage.scene.runs.some((run) => run.good);
  $("legend-caught").hidden = !stage.scene.runs.some((run) => run.caught);
  offerDownloads(learned ? answer.runs.length : 0);
  markView();
  showNoise(learned && !isChanged() ? stage.scene.runs : null, (words) => showRates(lab.advice?.key === learnKey() ? words : ""));
  if (learned && !isChanged()) await showPromises(mine, stage.scene);
}

/** Add to the verdicts what is proven; it takes the server a moment, so it comes later. */
async function showPromises(mine, scene) {
  const those = proven;
  if (those.radii === null) {
    try {
      those.radii = (await api.post("promise", {})).radii;
    } catch { /* the page is complete without it */ }
  }
  if (!those.radii || mine !== ticket) return;
  const row = rowOfCue(scene.cueRows - 1);
  markRadii(those.radii.map((radii) => (radii && radii[row] >= 0 ? radii[row] : null)));
  addPromises(those.radii, row, scene.runs.map((run) => wrongInCue(run, scene)));
}

/** How many units are wrong in what a network sees at its first step; null where that depends on noise. */
function wrongInCue(run, { cueRows, units }) {
  if (settings.cue.noise) return null; // noise comes on top of it
  let wrong = 0;
  for (let t = cueRows - run.order; t < cueRows; t++) {
    const row = rowOfCue(t);
    for (let i = 0; i < units; i++) wrong += run.bits[t * units + i] !== lab.material.bits[row * units + i];
  }
  return wrong;
}

/** The networks are others than before. */
export const forgetPromises = () => { proven = { radii: null }; };

function markView() {
  const raster = settings.raster && !stage.scene?.preview;
  $("view-frames").setAttribute("aria-pressed", String(!raster));
  $("view-raster").setAttribute("aria-pressed", String(raster));
  $("view-raster").disabled = Boolean(stage.scene?.preview);
  const shades = Boolean(lab.material?.code) && !raster; // all steps at once show units, not pixels
  $("legend-on").textContent = shades ? "too bright" : "wrongly on";
  $("legend-off").textContent = shades ? "too dark" : "wrongly off";
}

/** The recalls that are shown, of each network one; none where nothing was recalled. */
export const runsNow = () => (stage.scene && !stage.scene.preview ? stage.scene.runs : []);

/** What is shown, and the row of it. */
export const shown = () => ({ stage, now: player.now });

/** Show another step. */
export function goTo(step) {
  player.pause();
  player.go(step);
}

/** Show frames, or all steps at once. */
export function setView(raster) {
  settings.raster = raster;
  if (stage.scene) {
    stage.load(stage.scene, raster);
    player.go(player.now);
  }
  markView();
  remember();
}

/** Draw again, in another size or in other colours. */
export function redrawRecall() {
  if (!stage.scene) return;
  stage.measure();
  stage.draw(player.now);
  strip.draw(stage.scene, player.now);
}

/** Let the buttons of the card work, and the curve move through the steps. */
export function connectRecall() {
  $("view-frames").onclick = () => setView(false);
  $("view-raster").onclick = () => setView(true);
  $("sound").onclick = () => {
    const on = $("sound").getAttribute("aria-pressed") !== "true";
    $("sound").setAttribute("aria-pressed", String(on));
    $("sound").textContent = on ? "Sound on" : "Sound off";
    setSound(on);
  };
  const overlap = $("overlap");
  const scrub = (event) => goTo(stepAt(overlap, event.clientX, player.steps));
  overlap.onpointerdown = (event) => { overlap.setPointerCapture(event.pointerId); scrub(event); };
  overlap.onpointermove = (event) => { if (event.buttons) scrub(event); };
}
