// The card in which a network and its settings are chosen.

import { choice, number, slider } from "./controls.js";

const ORDERS = { 1: "1 (only the last pattern)", 2: "2", 3: "3", 4: "4", 5: "5", 6: "6", 0: "as many as needed" };

export const defaults = { name: "attractor", hidden: 150, kappa: 1, eta: 0.001, epochs: 500, order: 1, degree: 2, seed: 0 };

/** Build the card of network `k` (0 or 1); `changed` is called after each choice. */
export function buildNetwork(box, k, settings, catalogue, compare, changed) {
  box.replaceChildren();
  const entry = catalogue.networks.find((n) => n.name === settings.name) ?? catalogue.networks[0];
  const label = document.createElement("label");
  label.className = `which ${k ? "b" : "a"}`;
  label.textContent = compare ? `Network ${k ? "B" : "A"}` : "";
  const select = document.createElement("select");
  select.id = `network-kind-${k}`;
  select.setAttribute("aria-label", `Kind of network${compare ? (k ? " B" : " A") : ""}`);
  label.htmlFor = select.id;
  for (const network of catalogue.networks) select.add(new Option(network.label, network.name));
  select.value = entry.name;
  select.onchange = () => {
    settings.name = select.value;
    const open = box.querySelector("details")?.open;
    buildNetwork(box, k, settings, catalogue, compare, changed);
    if (open && box.querySelector("details")) box.querySelector("details").open = true;
    box.querySelector("select").focus();
    changed();
  };
  const hint = document.createElement("p");
  hint.className = "hint";
  hint.textContent = entry.hint;
  box.append(...(compare ? [label] : []), select, hint);

  const has = (name) => entry.settings.includes(name);
  const set = (name) => (value) => { settings[name] = Number(value); changed(); };
  const face = document.createElement("div");
  face.className = "fields";
  if (has("hidden")) {
    face.append(slider({ label: "Hidden neurons M", low: 10, high: 1000, step: 10, value: settings.hidden, change: set("hidden") }));
  }
  box.append(face);
  const more = document.createElement("details");
  const title = document.createElement("summary");
  title.textContent = "More settings";
  const fields = document.createElement("div");
  fields.className = "fields";
  const limits = catalogue.limits;
  if (has("kappa")) fields.append(number({ label: "Robustness κ", low: 1e-6, high: 1e6, step: "any", value: settings.kappa, change: set("kappa") }));
  if (has("eta")) fields.append(number({ label: "Learning rate η", low: 1e-6, high: 1e3, step: "any", value: settings.eta, change: set("eta") }));
  if (has("epochs")) fields.append(number({ label: "Epochs at most", low: 1, high: limits.epochs, value: settings.epochs, change: set("epochs") }));
  if (has("degree")) fields.append(number({ label: "Degree", low: 1, high: 30, value: settings.degree, change: set("degree") }));
  if (has("order")) fields.append(choice({ label: "Past patterns it sees", choices: ORDERS, value: String(settings.order), change: set("order") }));
  if (has("seed")) fields.append(number({ label: "Seed", low: 0, high: 9999, value: settings.seed, change: set("seed") }));
  more.append(title, fields);
  box.append(more);
}
