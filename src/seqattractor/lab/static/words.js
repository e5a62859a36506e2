// What the page says about learning and recall.

const $ = (id) => document.getElementById(id);

/** Say how each recall went; without any, what is to be done. */
export function showVerdicts(runs, changed) {
  if (!runs) {
    const words = document.createElement("p");
    words.className = "verdict none";
    words.textContent = changed ? "The settings have changed: learn again to see the recall." : "The network will get the corrupted cue and must find the sequence.";
    $("verdicts").replaceChildren(words);
    return;
  }
  $("verdicts").replaceChildren(...runs.map((run, k) => {
    const words = document.createElement("p");
    words.className = `verdict ${run.good ? "good" : "bad"}`;
    words.append(`${runs.length > 1 ? `${"AB"[k]}: ` : ""}${run.verdict}`);
    const notes = [];
    if (run.tau !== null) notes.push(`The whole sequence x(1) … x(T) follows from step τ = ${run.tau} on.`);
    if (notes.length) {
      const small = document.createElement("small");
      small.textContent = notes.join(" ");
      words.append(small);
    }
    return words;
  }));
}

/** Add to the verdicts what is proven of the frame in a row. */
export function addPromises(all, row) {
  all.forEach((radii, k) => {
    const words = $("verdicts").children[k];
    if (!radii || !words || radii[row] < 0) return;
    const radius = radii[row];
    const note = document.createElement("small");
    note.className = "promise";
    note.textContent = radius
      ? `Certified radius ${radius}, for one step: whichever ${radius === 1 ? "unit" : `${radius} units`} of what the network sees here ${radius === 1 ? "is" : "are"} flipped, the next pattern is right. That is proven.`
      : "Certified radius 0, for one step: nothing is proven beyond the frame itself.";
    words.append(note);
  });
}

/** Say what to look for, while an experiment stands as it was set up. */
export function showAdvice(words) {
  $("advice").textContent = words;
  $("advice").hidden = !words;
}

/** Why learning failed, with what can be done about it on this page. */
export const explain = (note) => note.replace(/use order=([0-9]+)/, "set \"Past patterns it sees\" to $1, under \"More settings\"");

/** One line on how learning ended. */
export function summary(end) {
  const parts = end.networks.map((n, k) => {
    const name = end.networks.length > 1 ? `${"AB"[k]}: ` : "";
    if (n.right === null) return `${name}not learned yet.`;
    const steps = `${Math.floor(n.right * 100)} % of the steps are right`;
    if (n.epochs === 0) return `${name}learned in one go; ${steps}.`;
    const epochs = `${n.epochs} epoch${n.epochs === 1 ? "" : "s"}`;
    if (n.converged) return `${name}learned without errors in ${epochs}.`;
    if (end.state === "stopped") return `${name}${epochs}, stopped; ${steps}.`;
    return `${name}${epochs}; ${n.right === 1 ? "all steps are right, but not all by the margin κ" : `some errors left, ${steps}`}.`;
  });
  return sentenceCase([...parts, end.note].filter(Boolean).join(" "));
}

const sentenceCase = (words) => words.charAt(0).toUpperCase() + words.slice(1);
