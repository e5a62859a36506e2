// What the page says about learning and recall. Verdicts come from the server in words already; what is put together here is what is proven
// of a frame, how learning ended, and what stands where there is no recall.

import { $, letter } from "./names.js";

/** Say what is to be seen where there is no recall. */
export function showNoVerdict(sentence) {
  const words = document.createElement("p");
  words.className = "verdict none";
  words.textContent = sentence;
  $("verdicts").replaceChildren(words);
  $("notes").replaceChildren();
}

/** Say how each recall went. */
export function showVerdicts(runs, cueRows) {
  $("verdicts").replaceChildren(...runs.map((run, k) => {
    const words = document.createElement("p");
    words.className = `verdict ${run.good ? "good" : "bad"}`;
    words.append(letter(k, runs.length, "", ": ") + run.verdict);
    if (run.words) words.append(note(run.words, "caught"));
    return words;
  }));
  $("notes").replaceChildren(...runs.map((run, k) => {
    const words = document.createElement("p");
    if (run.tau !== null) words.append(note(letter(k, runs.length, "", ": ") + sayTau(run, cueRows), "tau"));
    return words;
  }));
}

/** The paper's measure of a recall, beside that of the verdict: the step from which on the whole sequence is seen from its first frame. */
function sayTau({ tau, good, locked_on }, cueRows) {
  const step = tau - cueRows + 1;
  const measure = "The paper counts a recall as a success once the whole sequence x(1) … x(T) has followed from some step τ on, in whichever phase (section 6.2).";
  if (step < 0) return `${measure} Here it does from the cue on.`;
  if (good && tau > locked_on) return `${measure} Here τ = ${step}: after locking on, the first whole round begins there, where x(1) comes next.`;
  return `${measure} Here τ = ${step}.`;
}

function note(words, kind) {
  const small = document.createElement("small");
  small.className = kind;
  small.textContent = words;
  return small;
}

/** Add to the verdicts what is proven of the frame in a row; `wrong` units of what each network sees are wrong in the cue. */
export function addPromises(all, row, wrong) {
  all.forEach((radii, k) => {
    const words = $("notes").children[k];
    if (!radii || !words || radii[row] < 0) return;
    const radius = radii[row];
    const name = letter(k, all.length, "", ": ");
    const sees = `of what the network sees at frame ${row + 1}`;
    const here = wrong[k] === null ? "" : wrong[k] > radius ? `This cue has ${wrong[k]} wrong units, more than that, so nothing is promised for it.`
      : `This cue has ${wrong[k]}, so its first step was certain.`;
    words.append(note(radius
      ? `${name}Certified radius ${radius}, for one step: whichever ${radius === 1 ? "unit" : `${radius} units`} ${sees} ${radius === 1 ? "is" : "are"} flipped, the next pattern is right. That is proven. ${here}`
      : `${name}Certified radius 0, for one step: for frame ${row + 1} nothing is proven beyond the frame itself.`, "promise"));
  });
}

/** Say what to look for, while an experiment stands as it was set up. */
export function showAdvice(words) {
  $("advice-words").textContent = words;
  $("advice").hidden = !words;
  showRates("");
}

/** Say below it how cues like the present one fare, once that is known. */
export function showRates(words) {
  $("advice-rates").textContent = words;
}

/** One line on how learning ended. */
export function summary(end) {
  const parts = end.networks.map((n, k) => {
    const name = letter(k, end.networks.length, "", ": ");
    if (n.right === null) return `${name}not learned yet.`;
    const steps = `${Math.floor(n.right * 100)} % of the steps are right`;
    if (!n.learns) return `${name}as it was saved; ${steps}.`;
    if (n.epochs === 0) return `${name}learned in one go${n.degree ? `, with degree ${n.degree}` : ""}; ${steps}.`;
    const epochs = `${n.epochs} epoch${n.epochs === 1 ? "" : "s"}`;
    if (n.converged) return `${name}learned without errors in ${epochs}.`;
    if (end.state === "stopped") return `${name}${epochs}, stopped; ${steps}.`;
    return `${name}${epochs}; ${n.right === 1 ? "all steps are right, but not all by the margin κ" : `some errors left, ${steps}`}.`;
  });
  return sentenceCase([...parts, end.note].filter(Boolean).join(" "));
}

const sentenceCase = (words) => words.charAt(0).toUpperCase() + words.slice(1);
