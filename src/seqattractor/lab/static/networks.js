// The card in which one or two networks and their settings are chosen. Which settings a network has comes with the catalogue; a change is
// written into `settings.networks`, and the rest of the page follows (state.js).

import { choice, number, slider, toggle } from "./controls.js";
import { $ } from "./names.js";
import { changed, changedSoon, isLoaded, lab, outdated, settings } from "./state.js";

const ORDERS = { 1: "1 (only the last pattern)", 2: "2", 3: "3", 4: "4", 5: "5", 6: "6", 0: "as many as needed" };
const DEGREES = Object.fromEntries([0, 1, 2, 3, 5, 10, 20, 30, 50, 100].map((degree) => [degree, String(degree)]));

/** Build what is chosen for each network. */
export function buildNetworks() {
  $("compare").checked = settings.compare;
  $("network-1").hidden = !settings.compare;
  settings.networks.forEach((network, k) => buildNetwork($(`network-${k}`), network, k));
}

/** Build the choices for network `k` (0 or 1). */
function buildNetwork(box, network, k) {
  const { catalogue } = lab;
  const { compare } = settings;
  box.replaceChildren();
  const entry = catalogue.networks.find((n) => n.name === network.name) ?? catalogue.networks[0];
  const label = document.createElement("label");
  label.className = `which ${k ? "b" : "a"}`;
  label.textContent = compare ? `Network ${k ? "B" : "A"}` : "";
  const select = document.createElement("select");
  select.id = `network-kind-${k}`;
  select.setAttribute("aria-label", `Kind of network${compare ? (k ? " B" : " A") : ""}`);
  label.htmlFor = select.id;
  for (const offered of catalogue.networks) select.add(new Option(offered.label, offered.name));
  select.value = entry.name;
  select.onchange = () => {
    network.name = select.value;
    const open = box.querySelector("details")?.open;
    buildNetwork(box, network, k);
    if (open && box.querySelector("details")) box.querySelector("details").open = true;
    box.querySelector("select").focus();
    changed();
  };
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.textContent = entry.hint;
  box.append(...(compare ? [label] : []), select, hint);

  const has = (name) => entry.settings.includes(name);
  const set = (name) => (value) => { network[name] = Number(value); sayDegrees(); changed(); };
  const face = document.createElement("div");
  face.className = "fields";
  if (has("hidden")) {
    face.append(slider({ label: "Hidden neurons M", low: 10, high: 1000, step: 10, value: network.hidden, change: (value) => { network.hidden = value; outdated(); }, settle: () => changedSoon() }));
  }
  box.append(face);
  const more = document.createElement("details");
  const title = document.createElement("summary");
  title.textContent = "More settings";
  const fields = document.createElement("div");
  fields.className = "fields";
  const limits = catalogue.limits;
  if (has("kappa")) fields.append(number({ label: "Robustness κ", low: 1e-6, high: 1e6, step: "any", value: network.kappa, change: set("kappa") }));
  if (has("eta")) fields.append(number({ label: "Learning rate η", low: 1e-6, high: 1e3, step: "any", value: network.eta, change: set("eta") }));
  if (has("bias")) fields.append(toggle({ label: "Biases, learned as the weights are", value: network.bias, change: set("bias") }));
  if (has("epochs")) fields.append(number({ label: "Epochs at most", low: 1, high: limits.epochs, value: network.epochs, change: set("epochs") }));
  if (has("degree")) {
    const field = choice({ label: "Degree", choices: DEGREES, value: String(network.degree), change: set("degree") });
    field.querySelector("select").dataset.degreeOf = k;
    face.append(field);
  }
  if (has("order")) fields.append(choice({ label: "Past patterns it sees", choices: ORDERS, value: String(network.order), change: set("order") }));
  if (has("seed")) fields.append(number({ label: "Seed", low: 0, high: 9999, value: network.seed, change: set("seed") }));
  more.append(title, fields);
  if (fields.children.length) box.append(more);
  sayDegrees();
}

/** Say which degree the sequence needs, in the choice of each dense memory. */
export function sayDegrees() {
  for (const select of document.querySelectorAll("[data-degree-of]")) {
    const order = settings.networks[select.dataset.degreeOf].order || lab.material?.context || 1;
    const degree = isLoaded() ? lab.material.degrees[order - 1] : null;
    const highest = degree === lab.catalogue.limits.degree; // at which they may still drown each other
    select.options[0].textContent = highest ? `the highest: ${degree}, since some patterns are almost equal` : degree ? `as these patterns need: ${degree}` : "as the patterns need";
  }
}
