// Learning: started, followed epoch by epoch, stopped and continued. The server learns; the page follows the stream of its events, draws
// the errors of each epoch and says how it ended. The recall is asked for afterwards (recall.js).

import * as api from "./api.js";
import { showErrors } from "./charts.js";
import { attempt, sentenceOf } from "./messages.js";
import { $, letter } from "./names.js";
import { calm, forgetPromises, refresh } from "./recall.js";
import { currentCurves, lab, learnKey, learnSpec, networksInUse } from "./state.js";
import { summary } from "./words.js";

/** Learn with the settings as they are; with `epochs`, as many as each network had learned when a link to it was made. */
export async function learn(epochs = null) {
  if (lab.running || !lab.catalogue) return;
  lab.curves = { key: learnKey(), all: networksInUse().map(() => ({ hidden: [], visible: [] })) };
  const spec = learnSpec();
  if (epochs) spec.networks = spec.networks.map((network, k) => ({ ...network, epochs: epochs[k] || network.epochs }));
  await follow(() => api.post("learn", spec), learnKey());
}

async function goOn() {
  if (lab.running) return;
  await follow(() => api.post("continue", { epochs: Math.max(...networksInUse().map((n) => n.epochs)) }), lab.learnedKey);
}

/** Start learning and follow it to its end. */
async function follow(start, wanted) {
  lab.failure = null;
  lab.said = null;
  setRunning(true);
  refresh({ ask: false }); // what was said before
  say("Learning …");
  let end = null;
  try {
    await start();
    for await (const event of api.progress()) {
      if (event.epochs) addEpochs(event.epochs);
      if (event.ahead > 0) say(`Please wait: ${event.ahead} other ${event.ahead === 1 ? "visitor is" : "visitors are"} ahead of you.`);
      if (event.end) end = event.end;
    }
    if (end === null) throw new api.LabError(0, api.GONE);
  } catch (error) {
    lab.failure = { key: wanted, words: sentenceOf(error) };
  }
  setRunning(false);
  forgetPromises();
  if (end === null) {
    lab.learnedKey = null;
    return refresh();
  }
  if (end.state === "failed") {
    lab.learnedKey = null;
    lab.failure = { key: wanted, words: end.note };
    return refresh();
  }
  lab.said = { key: wanted, words: summary(end) };
  lab.epochs = end.networks.every((n) => n.right !== null) ? end.networks.map((n) => n.epochs) : null;
  const learned = end.networks.some((n) => n.right !== null);
  lab.learnedKey = learned ? wanted : null;
  lab.inside = { network: 0, epoch: null, silenced: [] };
  lab.canContinue = learned && end.networks.some((n) => !n.converged && n.epochs > 0);
  await refresh({ play: true });
  if (!isSeen($("panels")) || !isSeen($("play"))) $("recall").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
}

function isSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}

function addEpochs(news) {
  for (const { network, from, hidden, visible } of news) {
    const curve = lab.curves.all[network];
    curve.hidden.splice(from, Infinity, ...hidden);
    curve.visible.splice(from, Infinity, ...visible);
    const left = hidden.at(-1) + visible.at(-1);
    const name = letter(network, lab.curves.all.length, " network ", "");
    const what = lab.curves.key === learnKey() ? "Learning" : "Still learning with the settings as they were";
    say(`${what}${name}: epoch ${curve.visible.length}, ${left.toLocaleString("en")} errors`);
  }
  showErrors(currentCurves());
}

const say = (words) => { $("status").textContent = words; };

function setRunning(now) {
  const focused = document.activeElement;
  lab.running = now;
  $("go").hidden = now;
  $("stop").hidden = !now;
  if (now) $("continue").hidden = true;
  for (const button of $("experiments").querySelectorAll("button")) button.disabled = now;
  if (focused?.closest(now ? "#go, #continue" : "#stop")) $(now ? "stop" : "go").focus(); // the keyboard stays where it was
}

/** Let the buttons work. */
export function connectLearning() {
  $("go").onclick = () => learn();
  $("stop").onclick = () => attempt(() => api.post("stop", {}));
  $("continue").onclick = goOn;
}
