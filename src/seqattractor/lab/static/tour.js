// A tour of six steps: each asks for a prediction, then lets the network show what happens, and says what the two have in common. Each step
// asks for a prediction first; what it shows is done by the same functions as buttons do it.

import { prepare } from "./experiments.js";
import { learn } from "./learning.js";
import { $ } from "./names.js";
import { calm, runsNow } from "./recall.js";
import { changed, isLearned, lab, learnKey, settings } from "./state.js";

/** Set up what is to be learned; what was learned before would give the answer away. */
function setUp(what) {
  lab.learnedKey = null;
  prepare(what);
}

const walk = () => setUp({ sequence: { name: "walker" }, networks: ["attractor"] });

/** Learn the walk, unless it is what was learned for the step before. */
async function learnedWalk() {
  if (isLearned() && learnKey() === walked) return;
  walk();
  await learn();
  walked = learnKey();
}
const good = (k = 0) => (runsNow()[k].good ? 0 : 1);
const cue = (what) => { Object.assign(settings.cue, what); return changed({ play: true }); };
const inside = (what) => { Object.assign(lab.inside, { network: 0, epoch: null, silenced: [], ...what }); return changed({ play: true }); };

/**
 * The steps. `before` sets the page up, `show` lets it happen, and `outcome` gives the number of the choice that came true, as the page
 * has it: nothing here knows the answer.
 */
const STEPS = [
  {
    title: "Back into the sequence",
    before: walk,
    question: "The network will learn a walk of 24 frames. Then it gets the first frame with a fifth of all pixels flipped. What will it make of that?",
    choices: ["It finds its way back into the walk", "It does not find back"],
    show: () => learn(),
    outcome: () => good(),
    why: "Each step corrects some errors of the one before, because every neuron has learned its next state with a margin: a few wrong inputs do not change its mind. That is what makes the sequence an attractor.",
  },
  {
    title: "Without hidden neurons",
    before: () => setUp({ sequence: { name: "toy" }, networks: ["perceptron"] }),
    question: "Now a short sequence of ten units, and a network in which every unit drives the next pattern directly, without hidden neurons. It may practise for 500 epochs. Will it recall the sequence?",
    choices: ["Yes, it is short enough", "No, however long it learns"],
    show: () => learn(),
    outcome: () => good(),
    why: "No weights at all could do it: the next value of some unit is not a weighted vote of the units before (the sequence is not linearly separable). Hidden neurons recode each pattern first, and then it works.",
  },
  {
    title: "Two layers, one learns",
    before: () => setUp({ sequence: { name: "random", frames: 60 }, networks: ["attractor", "attractor-V"] }),
    question: "Two networks with hidden neurons learn 60 random patterns: A learns in both layers, B only from the hidden neurons on. B gets every step right from a clean pattern. What about a corrupted cue?",
    choices: ["B recalls it, too", "B does not find back"],
    show: () => learn(),
    outcome: () => good(1),
    why: "B's hidden neurons look at the pattern through random weights, so that a corrupted pattern looks like another one to them. A's hidden neurons have learned to look past errors.",
  },
  {
    title: "The negative",
    before: learnedWalk,
    question: "Back to the walk, which the network has learned. Now every single pixel of the cue is reversed: black is white, white is black. What comes?",
    choices: ["The walk", "The negative of the walk, step by step", "Neither"],
    show: () => cue({ flips: 0, painted: Array.from({ length: lab.material.units }, (_, i) => i) }),
    outcome: () => (runsNow()[0].good ? 0 : runsNow()[0].caught?.label.startsWith("−") ? 1 : 2),
    why: "The network has no biases, so it is odd: reverse all of its input, and all of its output is reversed. With every sequence it stores the negative. Below, in the state space, the whole diagonal is orange.",
  },
  {
    title: "Losing neurons",
    before: async () => {
      await learnedWalk();
      await cue({ start: 0, seed: 1, flips: 10, occlusion: 0, noise: 0, painted: [] });
    },
    question: "The cue has a tenth of its pixels flipped. Now every third hidden neuron is silenced: 50 of 150 say nothing any more. Will the network still find back into the walk?",
    choices: ["Yes, without an error", "Nearly: the walk, but with wrong pixels", "No, it is lost"],
    show: () => inside({ silenced: Array.from({ length: 50 }, (_, k) => 3 * k) }),
    outcome: () => (runsNow()[0].good ? 0 : runsNow()[0].overlaps.slice(-24).every((m) => m > 0.9) ? 1 : 2),
    why: "Each pixel is decided by all hidden neurons together: without a third of them most sums still lie on the right side, those with a small margin do not. Silence single ones yourself, under “Inside the network”: click on a neuron.",
  },
  {
    title: "Half of the learning",
    before: async () => {
      await learnedWalk();
      await cue({ start: 0, seed: 1, flips: 10, occlusion: 0, noise: 0, painted: [] });
      await inside({});
    },
    question: () => `The network learned for ${lab.epochs[0]} epochs until it made no error. What if it had stopped after a tenth of them, at epoch ${tenth()}?`,
    choices: ["It already finds back into the walk", "It does not yet"],
    show: () => inside({ epoch: tenth() }),
    outcome: () => good(),
    why: "The slider “Weights after epoch” goes through all of them: move it, and watch how the diagonal of the state space grows together. The first epochs do most of the work; the rest is for the margins.",
  },
];

const tenth = () => Math.max(1, Math.round(lab.epochs[0] / 10));
let at = 0;
let walked = null; // the settings with which the walk was learned
let asked = null; // those of the question
let going = 0; // what an older step still wants to do is dropped

/** Show a step and ask. */
async function begin(step) {
  at = step;
  const mine = ++going;
  $("tour").hidden = false;
  $("tour-next").hidden = true;
  $("tour-said").textContent = "";
  $("tour-choices").replaceChildren();
  $("tour-question").textContent = "One moment …";
  $("tour-title").textContent = `${at + 1} of ${STEPS.length}: ${STEPS[at].title}`;
  $("tour-title").focus({ preventScroll: true });
  $("tour").scrollIntoView({ block: "nearest" });
  const { before, question, choices } = STEPS[at];
  await before();
  if (mine !== going) return;
  asked = learnKey();
  $("tour-question").textContent = typeof question === "function" ? question() : question;
  $("tour-choices").replaceChildren(...choices.map((words, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.setAttribute("aria-pressed", "false");
    button.onclick = () => predict(k);
    return button;
  }));
}

/** Take a prediction and show what happens. */
async function predict(choice) {
  if (learnKey() !== asked) return begin(at); // the visitor has chosen something else meanwhile
  const mine = going;
  const { choices, show, outcome, why } = STEPS[at];
  const buttons = [...$("tour-choices").children];
  buttons.forEach((button, k) => {
    button.setAttribute("aria-pressed", String(k === choice));
    button.setAttribute("aria-disabled", "true");
    button.onclick = null;
  });
  $("tour-said").textContent = "Let us see …";
  await show();
  if (mine !== going) return;
  $("panels").scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  if (!runsNow().length) {
    $("tour-said").textContent = "It was interrupted; begin this step again.";
  } else {
    const came = outcome();
    const verdict = came === choice ? "As you predicted." : `You predicted “${choices[choice]}”. It came otherwise: “${choices[came]}”.`;
    const words = document.createElement("b");
    words.textContent = verdict;
    $("tour-said").replaceChildren(words, ` ${why}`);
  }
  $("tour-next").hidden = false;
  $("tour-next").textContent = runsNow().length ? (at + 1 < STEPS.length ? "Next" : "End the tour") : "Again";
  $("tour-next").focus({ preventScroll: true });
}

function end() {
  going += 1;
  $("tour").hidden = true;
  $("tour-start").focus();
}

/** Build the button that starts it. */
export function connectTour() {
  const button = document.createElement("button");
  button.type = "button";
  button.id = "tour-start";
  button.textContent = "Take the tour";
  button.onclick = () => begin(0);
  $("experiments").prepend(button);
  $("tour-end").onclick = end;
  $("tour-next").onclick = () => {
    if (!runsNow().length) begin(at);
    else if (at + 1 < STEPS.length) begin(at + 1);
    else end();
  };
}
