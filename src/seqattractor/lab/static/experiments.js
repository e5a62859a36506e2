// Experiments to try: settings that each show one point of the paper, and what to look for.

import { learn } from "./learning.js";
import { $ } from "./names.js";
import { buildNetworks } from "./networks.js";
import { chooseSource, showChoice } from "./sequence.js";
import { lab, learnKey, settings } from "./state.js";

const EXPERIMENTS = [
  {
    question: "Why hidden neurons?",
    sequence: { name: "toy" },
    networks: ["attractor", "perceptron"],
    advice: "Both learn the same ten units. B has no hidden neurons, and no weights at all would let it recall this sequence: some unit's next value is not a weighted vote of the units before. A recodes each pattern in its hidden neurons first, and it works.",
  },
  {
    question: "Must both layers learn?",
    sequence: { name: "random", frames: 60 },
    networks: ["attractor", "attractor-V"],
    advice: "Both get every single step right. But B's way into the hidden neurons, U, stays random, so a corrupted pattern looks like another one to them, and B loses its way. A has taught its hidden neurons to look past the errors: the sequence has become an attractor.",
  },
  {
    question: "What if a path crosses itself?",
    sequence: { name: "places", path: "eight" },
    networks: ["attractor"],
    order: 2,
    advice: "The animal runs a figure of eight. In the middle the same cells are active twice, with two different successors, so the last pattern does not determine what comes next. This network sees the last two. Let it see only one (More settings) and learn again.",
  },
  {
    question: "How much fits in?",
    sequence: { name: "random", frames: 150 },
    networks: ["attractor", "sparse"],
    advice: "150 random patterns, 400 hidden neurons each. A is too full: every step is right, but ten flipped units are too many. In B only a few hidden neurons are active at a time (see All steps), and the same number of them holds far more.",
  },
];

/** Choose a sequence and networks with which it is tried. */
export function prepare({ sequence, networks, order = 1 }) {
  chooseSource(sequence.name);
  settings.sequence = sequence;
  settings.compare = networks.length > 1;
  networks.forEach((name, k) => Object.assign(settings.networks[k], { name, order, kappa: 1, bias: 0, seed: 0 }));
  settings.cue.seed = 1;
  showChoice();
  buildNetworks();
}

function begin(experiment) {
  prepare(experiment);
  lab.advice = { key: learnKey(), words: experiment.advice };
  learn();
}

/** Build a button for each experiment. */
export function buildExperiments() {
  $("experiments").append(...EXPERIMENTS.map((experiment) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = experiment.question;
    button.onclick = () => begin(experiment);
    return button;
  }));
}
