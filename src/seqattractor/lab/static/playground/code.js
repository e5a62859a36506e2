// The Python that does the same: the counterpart of lab/downloads.py, word for word. What it prints, somebody with the library sees to be what the
// page shows, since sequences, start weights and cues are the same for a seed.

import { codeOf } from "./inside.js";
import { asFloat } from "./materials.js";
import { cueRows } from "./recall.js";

const CLASSES = {
  attractor: "SequenceAttractor", "attractor-V": "FixedHiddenNetwork", "attractor-hebbian": "HebbianReadoutNetwork",
  perceptron: "VisibleNetwork", sparse: "SparseSequenceAttractor",
};
const PARAMETERS = { hidden: "n_hidden", epochs: "max_epochs", seed: "random_state" };
const DEFAULTS = { kappa: 1, eta: 1e-3, bias: 0, epochs: 500, order: 1 };

/** A network as Python makes it, without defaults. */
function network(choice) {
  const words = choice.settings.filter((name) => DEFAULTS[name] !== choice[name]).map((name) => {
    const value = { kappa: asFloat, eta: asFloat, bias: () => "True", order: (order) => order || "'auto'" }[name]?.(choice[name]) ?? choice[name];
    return `${PARAMETERS[name] ?? name}=${value}`;
  });
  return `sa.${CLASSES[choice.name]}(${words.join(", ")})`;
}

/** A script that learns data with each network, of these orders, changes one of them as the visitor did, and recalls them from the cue. */
export function pythonCode(data, chosen, orders, cue, steps, inside) {
  const deep = Math.max(...orders), rows = cueRows(data, cue.start, deep);
  const taken = rows.at(-1) - rows[0] === deep - 1 ? `${rows[0]}:${rows[0] + deep}` : `[${rows.join(", ")}]`;
  const lines = ["import seqattractor as sa", "", data.python, "", `cue = X[${taken}]${deep === 1 ? "" : "  # the patterns that the network sees at first"}`];
  if (cue.occlusion) {
    const shape = data.frameShape.length > 1 ? `(${data.frameShape.join(", ")})` : `(${data.frameShape[0]},)`;
    lines.push(`cue = sa.noise.occlude(cue, ${shape}, fraction=${asFloat(cue.occlusion)}, rng=${cue.seed}${data.frameShape.length > 2 ? ", axes=2" : ""})`);
  }
  lines.push(`cue = sa.noise.flip(cue, ${cue.flips}, rng=${cue.seed})`);
  if (cue.painted.length) lines.push(`cue[-1, [${cue.painted.join(", ")}]] *= -1  # painted by hand`);
  const noise = cue.noise ? `, noise=${cue.noise}, rng=${cue.seed}` : "";
  chosen.forEach((choice, k) => {
    const mark = chosen.length > 1 ? `_${"ab"[k]}` : "", order = orders[k];
    const X = order === 1 || !data.loops.some(Boolean) ? "X" : `sa.close_loops(X, order=${order})`;
    const { until, changes } = inside.network === k ? codeOf(inside, `net${mark}`) : { until: "", changes: [] };
    lines.push("", `net${mark} = ${network(choice)}`, `net${mark}.fit(${X}${until})`, ...changes,
      `trajectory${mark} = net${mark}.recall(${order === 1 ? "cue[-1]" : `cue[-${order}:]`}, steps=${steps}${noise})`,
      data.loops.length === 1 && data.loops[0]
        ? `print(sa.retrieved(trajectory${mark}, X))  # the criterion of section 6.2`
        : `print(net${mark}.score(${X}))  # the fraction of transitions that are right`);
  });
  return `${lines.join("\n")}\n`;
}
