// The lab: holds the settings, asks the server, and brings the parts of the page together.

import * as api from "./api.js";
import { unpack } from "./bits.js";
import { busyWith, debounced } from "./busy.js";
import { drawFrame } from "./canvas.js";
import { showErrors, stepAt } from "./charts.js";
import { choice, slider } from "./controls.js";
import { Drawing } from "./drawing.js";
import { decode, encode } from "./link.js";
import { attempt, complain } from "./messages.js";
import { buildNetwork, defaults } from "./networks.js";
import { paintable } from "./paint.js";
import { Player } from "./player.js";
import { copy, copyLink } from "./share.js";
import { playStep, setSound } from "./sound.js";
import { previewScene, recallScene, Stage } from "./stage.js";
import { buildTiles, drawTiles, markTile } from "./tiles.js";
import { addPromises, showVerdicts, summary } from "./words.js";

const $ = (id) => document.getElementById(id);
const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** All that a link restores. Flips, cover and noise are in percent. */
let settings = {
  source: "walker",
  sequence: { name: "walker" },
  networks: [{ ...defaults }, { ...defaults, name: "visible" }],
  compare: false,
  cue: { start: 0, flips: 20, occlusion: 0, noise: 0, seed: 1, painted: [] },
  raster: false,
};
let catalogue = null;
let material = null; // the sequence as the server made it, bits unpacked
let materialKey = null; // the settings that it was made from
let cueBits = null;
let curves = [];
let learnedKey = null; // the settings that the networks on the server have learned
let running = false;
let promises = null; // what is proven of these networks
let loads = 0;
let ticket = 0; // answers to older questions are dropped
const stage = new Stage();

const player = new Player((now) => {
  stage.draw(now);
  $("step").value = stage.scene?.preview ? `frame ${now + 1} of ${player.steps}` : `step ${now} of ${player.steps - 1}`;
  const run = stage.scene?.runs[0];
  if (material?.pitches && player.timer && $("sound").getAttribute("aria-pressed") === "true") {
    const bits = stage.scene.preview ? stage.scene.truth : run.bits;
    playStep(material.pitches, bits, now * material.units, now ? (now - 1) * material.units : null, 1 / Number($("speed").value));
  }
});

// -- settings as the server takes them -----------------------------------------------------------------------------

const networksInUse = () => (settings.compare ? settings.networks : settings.networks.slice(0, 1));
const units = (percent) => Math.round(((material?.units ?? 0) * percent) / 100);
const cueSpec = () => ({
  start: settings.cue.start, seed: settings.cue.seed, painted: settings.cue.painted,
  flips: units(settings.cue.flips), noise: units(settings.cue.noise), occlusion: settings.cue.occlusion / 100,
});
const learnSpec = () => ({ sequence: settings.sequence, networks: networksInUse() });
const key = () => JSON.stringify(learnSpec());
const isLoaded = () => material !== null && materialKey === JSON.stringify(settings.sequence);
const isLearned = () => learnedKey !== null && learnedKey === key();

/** Keep the address in step with the settings, so that reloading and copying it restore them. */
function remember() {
  history.replaceState(null, "", encode(settings) ?? location.pathname);
  if ($("code-box").open) showCode();
}

// -- sequence ------------------------------------------------------------------------------------------------------

const entryOf = (name) => catalogue.sequences.find((s) => s.name === name);

function chooseSource(name) {
  settings.source = name;
  complain("");
  const entry = entryOf(name);
  if (entry) {
    settings.sequence = { name };
    for (const network of settings.networks) Object.assign(network, { epochs: 500, eta: 0.001, order: 1 }, pick(entry.suggest, ["hidden", "order"]));
    settings.cue = { ...settings.cue, start: 0, painted: [], occlusion: 0, noise: 0, flips: entry.suggest.flips };
    buildNetworks();
  }
  markTile(catalogue, settings.source);
  buildOptions();
  if (name === "draw") drawing.tell();
  else if (entry) changedSequence();
}

const pick = (object, names) => Object.fromEntries(names.filter((n) => n in object).map((n) => [n, object[n]]));

function buildOptions() {
  const entry = entryOf(settings.source);
  const fields = (entry?.options ?? []).map((option) => {
    const value = settings.sequence[option.name] ?? option.default;
    const change = (next) => { settings.sequence = { ...settings.sequence, [option.name]: next }; changedSequence(); };
    if (option.choices) return choice({ label: option.label, choices: option.choices, value, change });
    return slider({ label: option.label, low: option.low, high: option.high, value, change });
  });
  $("sequence-options").replaceChildren(...fields);
}

/** The sequence is another one: what was painted and learned does not fit it any more. */
const changedSequence = debounced(async () => {
  settings.cue.painted = [];
  settings.cue.start = 0;
  await loadSequence();
}, 150);

async function loadSequence() {
  const mine = ++loads;
  const wanted = JSON.stringify(settings.sequence);
  const answer = await attempt(() => api.post("sequence", settings.sequence));
  if (!answer || mine !== loads) return;
  complain("");
  materialKey = wanted;
  material = { ...answer, bits: unpack(answer.bits, answer.frames * answer.units) };
  settings.cue.start = Math.min(settings.cue.start, answer.frames - 2);
  $("sound").hidden = !material.pitches;
  settings.raster = material.kind !== "pictures";
  buildCueFields();
  await refresh({ play: true });
}

const drawing = new Drawing((sequence) => {
  settings.sequence = sequence;
  changedSequence();
});

async function takeFiles(files) {
  if (!files.length) return;
  const total = files.reduce((sum, file) => sum + file.size, 0);
  if (total > catalogue.limits.upload) {
    complain(`The files have ${(total / 1e6).toFixed(1)} MB; the lab takes up to ${catalogue.limits.upload / 1e6} MB.`);
    return;
  }
  $("upload-name").textContent = "Reading …";
  const answer = await attempt(() => api.upload(files));
  $("upload-name").textContent = answer ? `${files.length > 1 ? `${files.length} pictures` : files[0].name}: ${answer.frames} frames of ${answer.units} units` : "";
  if (!answer) return;
  settings.source = "file";
  settings.sequence = { name: "frames", ...pick(answer, ["shape", "units", "lengths", "kind", "bits"]) };
  markTile(catalogue, settings.source);
  buildOptions();
  changedSequence();
}

// -- network -------------------------------------------------------------------------------------------------------

function buildNetworks() {
  $("compare").checked = settings.compare;
  $("network-1").hidden = !settings.compare;
  settings.networks.forEach((network, k) => buildNetwork($(`network-${k}`), k, network, catalogue, settings.compare, changedNetwork));
}

function changedNetwork() {
  refresh({});
}

// -- cue -----------------------------------------------------------------------------------------------------------

function buildCueFields() {
  const percent = (value) => `${value} % (${units(value)})`;
  const set = (name) => (value) => { settings.cue[name] = value; refreshSoon(); };
  const last = material.frames - 2;
  $("cue-fields").replaceChildren(
    slider({ label: "Random flips", low: 0, high: 50, value: settings.cue.flips, say: percent, change: set("flips") }),
    slider({ label: "Covered", low: 0, high: 90, step: 5, value: settings.cue.occlusion, say: (v) => `${v} %`, change: set("occlusion") }),
    slider({ label: "Noise per step", low: 0, high: 30, value: settings.cue.noise, say: percent, change: set("noise") }),
    slider({ label: "Start at frame", low: 1, high: Math.max(1, last + 1), value: settings.cue.start + 1, change: (v) => { settings.cue.start = v - 1; settings.cue.painted = []; refreshSoon(); } }),
  );
}

const cuePainter = paintable(
  $("cue-canvas"),
  () => ({ rows: material?.shape[0] ?? 1, columns: material?.shape[1] ?? 1, units: material?.units ?? 0 }),
  (unit) => {
    if (!cueBits) return;
    const painted = new Set(settings.cue.painted);
    if (!painted.delete(unit)) painted.add(unit);
    settings.cue.painted = [...painted].sort((a, b) => a - b);
    cueBits[unit] ^= 1;
    drawCue();
    refreshSoon();
  },
  () => drawCue(),
);

function drawCue() {
  const canvas = $("cue-canvas");
  if (!material || !cueBits || !canvas.clientWidth) return;
  const [rows, columns] = material.shape;
  canvas.style.maxWidth = `${(240 * columns) / rows}px`;
  const width = canvas.clientWidth;
  const height = (width * rows) / columns;
  canvas.style.height = `${height}px`;
  const order = Math.max(...networksInUse().map((n) => n.order || 1));
  const place = Math.min(settings.cue.start + order - 1, material.frames - 1) * material.units;
  const view = { bits: cueBits, at: 0, units: material.units, shape: material.shape, truth: material.bits, truthAt: place, cursor: cuePainter.cursor };
  drawFrame(canvas, width, height, view);
}

// -- recall --------------------------------------------------------------------------------------------------------

const refreshSoon = debounced(() => refresh({}), 120);

/** Bring cue and stage up to date: recall if the networks have learned this, else show what they will get. */
async function refresh({ play = false }) {
  remember();
  if (!isLoaded() || running) return; // what is under way ends with a refresh of its own
  const mine = ++ticket;
  const learned = isLearned();
  const orders = networksInUse().map((n) => n.order || 1);
  const question = learned ? { cue: cueSpec() } : { cue: cueSpec(), sequence: settings.sequence, orders };
  const answer = await attempt(() => api.post("recall", question));
  if (!answer || mine !== ticket) return;
  complain("");
  cueBits = unpack(answer.cue, material.units);
  drawCue();
  const before = stage.scene;
  stage.load(learned ? recallScene(material, answer) : previewScene(material, cueBits, settings.cue.start + Math.max(...orders) - 1), settings.raster);
  showVerdicts(learned ? answer.runs : null, learnedKey !== null);
  player.looping = !learned;
  player.load(stage.scene.steps, { keep: !play && before?.preview === stage.scene.preview });
  if (play && !calm.matches) player.play();
  $("go").textContent = learned ? "Learn again" : "Learn and recall";
  $("go").classList.toggle("quiet", learned);
  for (const button of document.querySelectorAll("[data-download]")) {
    button.disabled = !learned && button.dataset.download !== "sequence";
  }
  $("legend-b").hidden = stage.scene.runs.length < 2;
  if (!learned) $("continue").hidden = true;
  markView();
  if (learned) await showPromises(mine, stage.scene.cueRows);
}

/** Add to the verdicts what is proven; it takes the server a moment, so it comes later. */
async function showPromises(mine, cueRows) {
  if (promises?.key !== learnedKey) {
    let answer = null;
    try {
      answer = await api.post("promise", {});
    } catch { /* the page is complete without it */ }
    promises = answer && { key: learnedKey, radii: answer.radii };
  }
  if (!promises || mine !== ticket) return;
  addPromises(promises.radii, settings.cue.start + cueRows - 1);
}

function markView() {
  const raster = settings.raster && !stage.scene?.preview;
  $("view-frames").setAttribute("aria-pressed", String(!raster));
  $("view-raster").setAttribute("aria-pressed", String(raster));
  $("view-raster").disabled = Boolean(stage.scene?.preview);
}

function setView(raster) {
  settings.raster = raster;
  if (stage.scene) {
    stage.load(stage.scene, raster);
    player.go(player.now);
  }
  markView();
  remember();
}

// -- learning ------------------------------------------------------------------------------------------------------

async function learn() {
  if (running || !material) return;
  complain("");
  const wanted = key();
  curves = networksInUse().map(() => ({ hidden: [], visible: [] }));
  await follow(() => api.post("learn", learnSpec()), wanted);
}

async function goOn() {
  if (running) return;
  complain("");
  await follow(() => api.post("continue", { epochs: Math.max(...networksInUse().map((n) => n.epochs)) }), learnedKey);
}

/** Start learning and follow it to its end. */
async function follow(start, wanted) {
  setRunning(true);
  $("status").textContent = "Learning …";
  let end = null;
  await attempt(async () => {
    await start();
    for await (const event of api.progress()) {
      if (event.epochs) addEpochs(event.epochs);
      if (event.ahead > 0) $("status").textContent = `Please wait: ${event.ahead} other ${event.ahead === 1 ? "visitor is" : "visitors are"} before you.`;
      if (event.end) end = event.end;
    }
  });
  setRunning(false);
  if (end === null) {
    $("status").textContent = "";
    return;
  }
  if (end.state === "failed") {
    $("status").textContent = "";
    learnedKey = null;
    complain(end.note);
    await refresh({});
    return;
  }
  $("status").textContent = summary(end);
  const learned = end.networks.some((n) => n.right !== null);
  learnedKey = learned ? wanted : null;
  promises = null;
  $("continue").hidden = !learned || end.networks.every((n) => n.converged || n.epochs === 0);
  await refresh({ play: true });
  if (innerWidth <= 860) $("h-recall").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
}

function addEpochs(news) {
  for (const { network, from, hidden, visible } of news) {
    curves[network].hidden.splice(from, Infinity, ...hidden);
    curves[network].visible.splice(from, Infinity, ...visible);
    const left = hidden.at(-1) + visible.at(-1);
    const name = settings.compare ? ` network ${"AB"[network]}` : "";
    $("status").textContent = `Learning${name}: epoch ${curves[network].visible.length}, ${left.toLocaleString("en")} errors`;
  }
  showErrors(curves);
}

function setRunning(now) {
  running = now;
  $("go").hidden = now;
  $("stop").hidden = !now;
  if (now) $("continue").hidden = true;
}

// -- to take away --------------------------------------------------------------------------------------------------

async function showCode() {
  if (!isLoaded()) return;
  const code = await attempt(() => api.text("code", { ...learnSpec(), cue: cueSpec() }));
  if (code !== null) $("code").textContent = code;
}

// -- the page ------------------------------------------------------------------------------------------------------

function redraw() {
  if (stage.scene) {
    stage.measure();
    stage.draw(player.now);
  }
  drawCue();
  drawing.draw();
  showErrors(curves);
}

function connect() {
  $("go").onclick = learn;
  $("stop").onclick = () => attempt(() => api.post("stop", {}));
  $("continue").onclick = goOn;
  $("compare").onchange = () => { settings.compare = $("compare").checked; buildNetworks(); changedNetwork(); };
  $("cue-again").onclick = () => { settings.cue.seed = (settings.cue.seed + 1) % 10000; refresh({ play: true }); };
  $("cue-unpaint").onclick = () => { settings.cue.painted = []; refresh({}); };
  $("view-frames").onclick = () => setView(false);
  $("view-raster").onclick = () => setView(true);
  $("alert").querySelector("button").onclick = () => complain("");
  $("share-link").onclick = () => copyLink(settings);
  $("copy-code").onclick = () => copy($("code").textContent, "The code is copied.");
  $("code-box").ontoggle = () => { if ($("code-box").open) showCode(); };
  for (const button of document.querySelectorAll("[data-download]")) {
    button.onclick = () => attempt(() => api.download({
      what: button.dataset.download, network: 0, cue: cueSpec(), sequence: settings.sequence,
      dark: Number(matchMedia("(prefers-color-scheme: dark)").matches),
    }));
  }
  $("sound").onclick = () => {
    const on = $("sound").getAttribute("aria-pressed") !== "true";
    $("sound").setAttribute("aria-pressed", String(on));
    $("sound").textContent = on ? "Sound on" : "Sound off";
    setSound(on);
  };
  const overlap = $("overlap");
  const scrub = (event) => { player.pause(); player.go(stepAt(overlap, event.clientX, player.steps)); };
  overlap.onpointerdown = (event) => { overlap.setPointerCapture(event.pointerId); scrub(event); };
  overlap.onpointermove = (event) => { if (event.buttons) scrub(event); };
  $("file").onchange = () => takeFiles([...$("file").files]);
  document.ondragover = (event) => { event.preventDefault(); document.body.classList.add("dragging"); };
  document.ondragleave = () => document.body.classList.remove("dragging");
  document.ondrop = (event) => {
    event.preventDefault();
    document.body.classList.remove("dragging");
    takeFiles([...event.dataTransfer.files]);
  };
  addEventListener("resize", debounced(redraw, 60));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("hashchange", () => location.reload());
}

/** Take the settings of a link over what is the default; an error, where they are damaged, leaves the default. */
function restore() {
  const given = decode(location.hash);
  if (!given) return;
  const next = {
    ...settings, ...given,
    networks: settings.networks.map((network, k) => ({ ...network, ...given.networks[k] })),
    cue: { ...settings.cue, ...given.cue },
  };
  if (!Array.isArray(next.cue.painted)) throw new Error("incomplete link");
  if (!entryOf(next.source) && !["draw", "file"].includes(next.source)) throw new Error("unknown sequence");
  if (next.source === "draw" && !drawing.restore(next.sequence)) next.source = "file";
  settings = next;
}

async function start() {
  connect();
  catalogue = await attempt(api.catalogue);
  if (!catalogue) return;
  $("version").textContent = `seqattractor ${catalogue.version}`;
  let damaged = false;
  try {
    restore();
  } catch {
    damaged = true;
  }
  const { raster } = settings;
  buildTiles(catalogue, chooseSource);
  markTile(catalogue, settings.source);
  buildOptions();
  buildNetworks();
  showErrors(curves);
  drawing.draw();
  await loadSequence();
  if (damaged) complain("The link is damaged, so the lab starts as usual.");
  else if (location.hash) setView(raster);
  await attempt(() => drawTiles(catalogue));
}

busyWith(start);
