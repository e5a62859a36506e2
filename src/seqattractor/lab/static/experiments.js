// Experiments to try: settings that each show one point of the paper, and what to look for. A button sets sequence, networks and cue, and
// learns at once; the advice beside it stands as long as the settings are those of the experiment.

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
    advice: "Both learn the same ten units. B has no hidden neurons, and no weights at all would let it recall this sequence: some unit's next value is not a weighted vote of the units before. A recodes each pattern in its hidden neurons first; with that, there are such weights.",
  },
  {
    question: "Must both layers learn?",
    sequence: { name: "random", frames: 60 },
    networks: ["attractor", "attractor-V"],
    advice: "Both make every single step right from a clean pattern. But B's way into the hidden neurons, U, stays random, so that wrong units change much of what they say. A has taught its hidden neurons to look past errors.",
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
    advice: "150 random patterns, 400 hidden neurons each. Both make every single step right from a clean pattern, but A is nearly full, and little room is left for errors. In B only a few hidden neurons are active at a time (see All steps), which leaves far more.",
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
