// The card of the network at work: activity that flows through it step by step, single hidden neurons, epochs, and the state space. It asks
// the server for wiring and weights, and changes what is recalled through `lab.inside`; the parts are drawn by `flow.js`, `margins.js` and
// `space.js`.

import * as api from "./api.js";
import { unpack } from "./bits.js";
import { drawFlow, drawWeights, layoutOf } from "./flow.js";
import { drawMargins, marginsOf, sayMargins } from "./margins.js";
import { sentenceOf } from "./messages.js";
import { $ } from "./names.js";
import { calm, goTo, shown, watch } from "./recall.js";
import { drawSpace, nearest, stateSpace, stepOfSpace } from "./space.js";
import { changed, changedSoon, insideSpec, isLearned, lab, weightsKey } from "./state.js";

const LONGEST = 900; // milliseconds in which a step is drawn
const QUICK = 300; // steps that are shorter show their outcome at once
const SHORTEST = 90; // and even shorter ones nothing else

const view = { scene: null, now: 0, cursor: null, selected: null, part: 1 };
let wiring = null; // of the network as it is looked at: { key, neurons, inputs, outputs, hidden }
let neuron = null; // the one that is chosen, likewise
let space = null; // of the recall that is shown
let frame = 0; // of the animation

const numbers = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
const runNow = () => view.scene?.runs[lab.inside.network] ?? null;
const unitsPerPixel = () => (lab.material?.code ? lab.material.code.bits * lab.material.code.channels : 1);
const shape = () => view.scene.shape;

/** Ask for something of the network as it is looked at; null where there is no answer, or it is not wanted any more. */
async function look(path, more, wanted) {
  const key = weightsKey();
  const still = () => isLearned() && key === weightsKey() && wanted();
  const { network, epoch } = insideSpec().inside; // the weights of a neuron that is silenced are still there
  try {
    const answer = await api.post(path, { inside: { network, epoch }, ...more });
    return still() ? { ...answer, key } : null;
  } catch (error) {
    if (still()) sayDirect(sentenceOf(error));
    return null;
  }
}

/** Say why there are no neurons to be seen; without words, show them. */
function sayDirect(words = "") {
  $("inside-hidden").hidden = Boolean(words);
  $("inside-direct").textContent = words;
  $("inside-direct").hidden = !words;
}

/** Take a recall that is shown from now on, or nothing. */
function load(scene) {
  view.scene = scene;
  space = null;
  const run = runNow();
  $("inside-body").hidden = !run;
  $("inside-none").hidden = Boolean(run);
  if (!run) {
    cancelAnimationFrame(frame);
    return;
  }
  space = stateSpace(lab.material, run.bits, scene.steps);
  sayDirect(run.hidden ? "" : "This network has no hidden neurons to look into: its state follows from the stored patterns or from direct weights.");
  showChoices();
  if (run.hidden && wiring?.key !== weightsKey()) loadWiring();
  if (run.hidden && view.selected !== null && neuron?.key !== weightsKey()) choose(view.selected);
}

async function loadWiring() {
  const found = await look("wiring", {}, () => true);
  if (!found) return;
  wiring = found;
  if (view.selected !== null && view.selected >= wiring.hidden) choose(null);
  measure();
  draw();
}

/** Show a hidden neuron, by its number from 0, or none. */
async function choose(number) {
  view.selected = number;
  if (number === null) neuron = null;
  showChoices();
  draw();
  if (number === null) return;
  const found = await look("neuron", { neuron: number }, () => view.selected === number);
  if (!found) return;
  neuron = { ...found, number, inputs: numbers(found.inputs), outputs: numbers(found.outputs) };
  neuron.targets = found.targets && unpack(found.targets, lab.material.frames - 1);
  neuron.margins = marginsOf(lab.material, neuron);
  showChoices();
  draw();
}

/** Bring the controls up to date. */
function showChoices() {
  const { network, epoch, silenced } = lab.inside;
  const run = runNow();
  const several = (view.scene?.runs.length ?? 0) > 1;
  $("inside-which").hidden = !several;
  for (const [k, name] of ["inside-a", "inside-b"].entries()) $(name).setAttribute("aria-pressed", String(network === k));
  const epochs = lab.epochs?.[network] ?? 0;
  $("epoch-box").hidden = epochs < 2;
  if (epochs > 1) {
    $("epoch").max = String(epochs);
    $("epoch").value = String(epoch ?? epochs);
    const words = epoch === null ? `${epochs}, the last` : `${epoch} of ${epochs}`;
    $("epoch-says").value = words;
    $("epoch").setAttribute("aria-valuetext", words);
  }
  if (run?.hidden) $("neuron-number").max = String(run.hidden.units);
  if (document.activeElement !== $("neuron-number")) $("neuron-number").value = view.selected === null ? "" : String(view.selected + 1);
  $("neuron-silence").disabled = view.selected === null;
  $("neuron-silence").textContent = silenced.includes(view.selected) ? "Wake it" : "Silence it";
  $("neuron-wake").hidden = !silenced.length;
  $("neuron-wake").textContent = `Wake all ${silenced.length}`;
  $("neuron").hidden = neuron === null;
  const parts = [];
  if (epoch !== null) parts.push(`with its weights after epoch ${epoch}`);
  if (silenced.length) parts.push(`with hidden neuron${silenced.length > 1 ? "s" : ""} ${silenced.map((j) => j + 1).join(", ")} silenced`);
  $("inside-note").hidden = !parts.length;
  $("inside-says").textContent = `This is the recall of ${several ? `network ${"AB"[network]}` : "the network"} ${parts.join(" and ")}.`;
}

/** Give the canvases sizes that fill the width. */
function measure() {
  const width = $("inside-body").clientWidth;
  if (!width || !view.scene) return;
  if (wiring) {
    view.layout = layoutOf(width, shape(), wiring.neurons.length);
    $("flow").style.height = `${view.layout.height}px`;
  }
  if (space) space.picture = null;
}

/** Draw what is shown at this moment. */
function draw() {
  const run = runNow();
  if (!run || !$("inside-body").clientWidth) return;
  drawHidden(run);
  const { scene, now } = view;
  drawSpace($("space"), space, now, ["cue", `step ${scene.steps - scene.cueRows}`]);
  const best = nearest(space, now);
  const which = lab.material.lengths.length > 1 ? ` of sequence ${best.s + 1}` : "";
  const words = `Nearest: ${best.sign < 0 ? "the negative of " : ""}frame ${best.f + 1}${which}, overlap ${best.sign < 0 ? "−" : ""}${best.overlap.toFixed(2)}`;
  $("space-says").value = words;
  $("space").setAttribute("aria-label", `Overlap of each step with every stored frame. ${words}.`);
}

function drawHidden(run) {
  if (!run.hidden || !wiring || wiring.key !== weightsKey() || !view.layout) return;
  const { scene, now } = view;
  const { units, code } = scene;
  const picture = (t) => ({ bits: t < scene.steps ? run.bits : null, at: t * units, units, shape: shape(), code });
  const sees = now >= run.order - 1; // before that a network of a higher order has not seen enough
  const active = wiring.neurons.map((j) => sees && run.hidden.bits[now * run.hidden.units + j] === 1);
  drawFlow($("flow"), {
    layout: view.layout, wiring, active, each: unitsPerPixel(), low: wiring.low, selected: view.selected, cursor: view.cursor,
    silenced: lab.inside.silenced, before: picture(now), after: now >= scene.cueRows - 1 ? picture(now + 1) : { ...picture(now), bits: null },
    quick: view.quick,
  }, view.part);
  const on = active.filter(Boolean).length;
  const here = view.cursor === null ? "" : ` Neuron ${wiring.neurons[view.cursor] + 1}, ${active[view.cursor] ? "active" : "silent"}.`;
  $("flow").setAttribute("aria-label", `${on} of ${active.length} shown hidden neurons are active.${here} Arrow keys move between them, Enter chooses one.`);
  $("flow-legend").textContent = wiring.neurons.length < wiring.hidden ? `${wiring.neurons.length} of ${wiring.hidden} hidden neurons, with their strongest connections` : "all hidden neurons, with their strongest connections";
  if (!neuron || neuron.key !== weightsKey()) return;
  const width = Math.min(190, ($("neuron").clientWidth - 14) / 2);
  drawWeights($("neuron-in"), neuron.inputs, shape(), unitsPerPixel(), width);
  drawWeights($("neuron-out"), neuron.outputs, shape(), unitsPerPixel(), width);
  drawMargins($("neuron-margins"), neuron);
  const state = run.hidden.bits[now * run.hidden.units + neuron.number] === 1;
  $("neuron-says").textContent = `Hidden neuron ${neuron.number + 1} is ${lab.inside.silenced.includes(neuron.number) ? "silenced: nothing of it reaches the next frame" : `${state ? "active" : "silent"} at this step`}.`;
  $("margin-says").textContent = sayMargins(neuron);
  $("neuron-from").textContent = run.order > 1 ? `the last ${run.order} frames, the newest on the right` : "the frame";
}

/** Show a moment: a step that was taken by itself, or alone, is drawn as it happens. */
function show(scene, now) {
  if (scene?.preview) scene = null;
  const fresh = scene !== view.scene;
  if (fresh) load(scene);
  const stepped = !fresh && now === view.now + 1;
  view.now = now;
  view.part = 1;
  cancelAnimationFrame(frame);
  if (!view.scene) return;
  if (fresh) measure();
  const takes = Math.min(LONGEST, $("play").getAttribute("aria-label") === "Pause" ? 1000 / Number($("speed").value) : LONGEST);
  if (!stepped || calm.matches || takes < SHORTEST || !inView()) {
    draw();
    return;
  }
  view.quick = takes < QUICK;
  const start = performance.now();
  const tick = (time) => {
    view.part = Math.min(1, Math.max(0, (time - start) / takes));
    draw();
    if (view.part < 1) frame = requestAnimationFrame(tick);
  };
  tick(start);
}

function inView() {
  const box = $("flow").getBoundingClientRect();
  return box.height > 0 && box.bottom > 0 && box.top < innerHeight;
}

/** Draw again, in another size or in other colours. */
export function redrawInside() {
  measure();
  draw();
}

/** Change the network that is looked at, and recall with it. */
function change(what, soon = false) {
  Object.assign(lab.inside, what);
  showChoices();
  if (soon) changedSoon();
  else changed();
}

/** The hidden neuron at a place of the canvas, by its rank among those shown; null where there is none. */
function at(event) {
  if (!view.layout || !wiring) return null;
  const box = $("flow").getBoundingClientRect();
  const away = view.layout.places.map(([x, y]) => Math.hypot(x - (event.clientX - box.left), y - (event.clientY - box.top)));
  const k = away.indexOf(Math.min(...away));
  return away[k] < view.layout.radius * 2.2 ? k : null;
}

/** The hidden neuron at a place of the panel with all of them; null beside them. */
function unitAt({ canvas, shape: [rows, columns], run }, event) {
  const box = canvas.getBoundingClientRect();
  const [x, y] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  const unit = Math.floor(y * rows) * columns + Math.floor(x * columns);
  return unit < run.hidden.units ? unit : null;
}

function onKey(event) {
  if (!wiring || !view.layout) return;
  const { places } = view.layout;
  const from = places[view.cursor ?? 0];
  const ways = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  if (event.key in ways) {
    const [wx, wy] = ways[event.key];
    let best = view.cursor ?? 0, least = Infinity;
    if (view.cursor !== null) places.forEach(([x, y], k) => {
      const [dx, dy] = [x - from[0], y - from[1]];
      const along = dx * wx + dy * wy, aside = Math.abs(dx * wy) + Math.abs(dy * wx);
      if (along > 4 && along + 2 * aside < least) { least = along + 2 * aside; best = k; }
    });
    view.cursor = best;
  } else if ((event.key === "Enter" || event.key === " ") && view.cursor !== null) choose(wiring.neurons[view.cursor]);
  else if (event.key === "Escape") choose(null);
  else return;
  event.preventDefault();
  event.stopPropagation();
  draw();
}

/** Let the card work. */
export function connectInside() {
  watch(show);
  const flow = $("flow");
  flow.onclick = (event) => {
    const k = at(event);
    if (k !== null) choose(wiring.neurons[k] === view.selected ? null : wiring.neurons[k]);
  };
  flow.onmousemove = (event) => { flow.style.cursor = at(event) === null ? "" : "pointer"; };
  flow.onkeydown = onKey;
  flow.onblur = () => { view.cursor = null; draw(); };
  $("panels").addEventListener("click", (event) => {
    const { stage } = shown();
    const panel = stage.panels.find(({ canvas, kind }) => canvas === event.target && kind === "hidden");
    if (!panel || stage.raster || panel.run !== runNow()) return;
    const number = unitAt(panel, event);
    if (number === null) return;
    choose(number);
    $("inside").scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  });
  $("neuron-number").onchange = () => {
    const number = Number($("neuron-number").value);
    if (Number.isInteger(number) && number >= 1 && number <= Number($("neuron-number").max)) choose(number - 1);
    else choose(null);
  };
  $("neuron-silence").onclick = () => {
    const { silenced } = lab.inside;
    const without = silenced.filter((j) => j !== view.selected);
    change({ silenced: without.length < silenced.length ? without : [...silenced, view.selected].sort((a, b) => a - b) });
  };
  $("neuron-wake").onclick = () => { $("neuron-number").focus(); change({ silenced: [] }); };
  $("inside-back").onclick = () => { $("h-recall").focus(); change({ silenced: [], epoch: null }); };
  $("epoch").oninput = () => {
    const epoch = Number($("epoch").value);
    change({ epoch: epoch === Number($("epoch").max) ? null : epoch }, true);
  };
  for (const [k, name] of ["inside-a", "inside-b"].entries()) {
    $(name).onclick = () => {
      if (lab.inside.network === k) return;
      view.selected = neuron = null;
      view.scene = null;
      change({ network: k, silenced: [], epoch: null });
    };
  }
  const map = $("space");
  const scrub = (event) => goTo(stepOfSpace(map, event.clientX, space.steps));
  map.onpointerdown = (event) => { map.setPointerCapture(event.pointerId); scrub(event); };
  map.onpointermove = (event) => { if (event.buttons) scrub(event); };
}
