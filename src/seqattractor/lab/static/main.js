// The lab: brings the parts of the page together and starts it. It asks for the catalogue, takes over the settings of a link, builds the
// cards (tiles, sequence, networks, cue, experiments, share), and says which of them is brought up to date by what.

import * as api from "./api.js";
import { busyWith, debounced } from "./busy.js";
import { showErrors } from "./charts.js";
import { buildCueFields, drawCue } from "./cue.js";
import { buildExperiments } from "./experiments.js";
import { connectFiles } from "./files.js";
import { connectInside, redrawInside } from "./hero.js";
import { connectKeyboard } from "./keyboard.js";
import { connectLearning, learn } from "./learning.js";
import { decode } from "./link.js";
import { attempt, complain } from "./messages.js";
import { $ } from "./names.js";
import { buildNetworks } from "./networks.js";
import { connectNoise, drawNoise } from "./noise.js";
import { connectRecall, redrawRecall, refresh, setView, shown } from "./recall.js";
import { chooseSource, drawing, loadSequence, rereadFiles, showChoice, takeFiles } from "./sequence.js";
import { connectShare } from "./share.js";
import { currentCurves, entryOf, isLoaded, lab, onChange, settings } from "./state.js";
import { buildTiles, drawTiles } from "./tiles.js";
import { connectTour } from "./tour.js";
import { connectUndo } from "./undo.js";
import { connectType } from "./type.js";

function redraw() {
  redrawRecall();
  redrawInside();
  drawCue();
  drawing.draw();
  showErrors(currentCurves());
  drawNoise();
}

function connect() {
  onChange(refresh);
  api.onForgotten(() => { lab.learnedKey = lab.said = null; });
  api.onBusy((busy) => { $("busy").hidden = !busy; });
  connectLearning();
  connectRecall();
  connectNoise();
  connectInside();
  connectShare(shown);
  connectKeyboard();
  connectUndo(goBackTo);
  $("compare").onchange = () => { settings.compare = $("compare").checked; buildNetworks(); refresh(); };
  $("cue-again").onclick = () => { settings.cue.seed = (settings.cue.seed + 1) % 10000; refresh({ play: true }); };
  $("cue-unpaint").onclick = () => { settings.cue.painted = []; refresh(); };
  $("alert").querySelector("button").onclick = () => { lab.failure = null; complain(""); };
  $("file").onchange = () => takeFiles([...$("file").files]);
  connectFiles(rereadFiles);
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

/**
 * Take the settings of a link over what is the default; an error, where they are damaged, leaves the default.
 * Gives the epochs that were learned when the link was made, null where nothing was.
 */
function restore() {
  const link = decode(location.hash);
  if (!link) return null;
  const { learned, ...given } = link;
  const next = {
    ...settings, ...given,
    networks: settings.networks.map((network, k) => ({ ...network, ...given.networks[k] })),
    cue: { ...settings.cue, ...given.cue },
  };
  if (!Array.isArray(next.cue.painted)) throw new Error("incomplete link");
  if (!entryOf(next.source) && !["draw", "file"].includes(next.source)) throw new Error("unknown sequence");
  if (next.source === "draw" && !drawing.restore(next.sequence)) next.source = "file";
  Object.assign(settings, next);
  return Array.isArray(learned) && learned.every((epochs) => Number.isInteger(epochs) && epochs >= 0) ? learned : null;
}

/** Take over settings as they were before. */
function goBackTo(before) {
  Object.assign(settings, before);
  if (settings.source === "draw") drawing.restore(settings.sequence);
  showChoice();
  buildNetworks();
  buildCueFields();
  drawing.draw();
  if (isLoaded()) refresh();
  else loadSequence();
}

/** Begin with the network that the lab was opened with, if there is one, and with its sequences. */
function beginWithOwn() {
  const own = lab.catalogue.networks.find((network) => network.name === "own");
  if (!own) return;
  settings.networks[0].name = own.name;
  const entry = entryOf("own");
  if (entry) Object.assign(settings, { source: entry.name, sequence: { name: entry.name }, cue: { ...settings.cue, ...entry.suggest } });
}

async function start() {
  if (api.isPlayground) await attempt(async () => (await import("./playground/page.js")).adapt());
  connect();
  connectType();
  $("dead").hidden = true;
  lab.catalogue = await attempt(api.catalogue);
  if (!lab.catalogue) return;
  $("version").textContent = `seqattractor ${lab.catalogue.version}`;
  beginWithOwn();
  let damaged = false, learned = null;
  try {
    learned = restore();
  } catch {
    damaged = true;
  }
  const { raster } = settings;
  const opening = damaged || !location.hash; // a link without a result shows what its sender saw
  buildExperiments();
  connectTour();
  buildTiles(lab.catalogue, chooseSource);
  showChoice();
  buildNetworks();
  redraw();
  await loadSequence();
  delete $("main").dataset.waiting; // nothing moves from here on
  if (location.hash && !damaged) setView(raster);
  if (learned && lab.material) await learn(learned.map((epochs) => Math.min(epochs, lab.catalogue.limits.epochs)));
  else if (opening && lab.material) await learn();
  if (damaged) complain("The link is damaged, so the lab starts as usual.");
  await attempt(() => drawTiles(lab.catalogue));
}

busyWith(start).catch((error) => {
  console.error(error);
  $("dead").hidden = false;
  $("dead").classList.add("now");
});
