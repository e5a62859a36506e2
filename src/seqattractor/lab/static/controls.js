// Small form controls with labels: a slider, a number, a switch, a choice. They are made by the cards of the sequence, the network and the
// cue, which give them what to say and what to do; they hold no settings themselves.

let count = 0;

function field(label, control, extra) {
  const box = document.createElement("div");
  box.className = "field";
  control.id = `control-${++count}`;
  const name = document.createElement("label");
  name.htmlFor = control.id;
  name.textContent = label;
  box.append(name, ...(extra ? [extra] : []), control);
  return box;
}

/** A slider that says its value; `say` turns it into words. `change` is called as it is dragged, `settle` once it is let go. */
export function slider({ label, low, high, step = 1, value, say = String, change, settle = () => {} }) {
  const input = Object.assign(document.createElement("input"), { type: "range", min: low, max: high, step });
  input.value = value;
  const words = document.createElement("output");
  const tell = () => {
    words.value = say(Number(input.value));
    input.setAttribute("aria-valuetext", words.value);
  };
  input.oninput = () => { tell(); change(Number(input.value)); };
  input.onchange = () => settle(Number(input.value));
  tell();
  const box = field(label, input, words);
  box.set = (next) => { input.value = next; tell(); };
  box.input = input;
  return box;
}

/** A number; what cannot be read as one within the range is put back. */
export function number({ label, low, high, step = 1, value, change }) {
  const input = Object.assign(document.createElement("input"), { type: "number", min: low, max: high, step });
  input.value = value;
  let last = value;
  input.onchange = () => {
    const next = Number(input.value);
    if (input.value !== "" && next >= low && next <= high) change((last = next));
    else input.value = last;
  };
  return field(label, input);
}

/** A switch: 0 or 1. */
export function toggle({ label, value, change }) {
  const input = Object.assign(document.createElement("input"), { type: "checkbox", checked: Boolean(value) });
  input.onchange = () => change(Number(input.checked));
  const box = document.createElement("label");
  box.className = "check";
  box.append(input, ` ${label}`);
  return box;
}

/** A choice between words. */
export function choice({ label, choices, value, change }) {
  const select = document.createElement("select");
  for (const [key, words] of Object.entries(choices)) select.add(new Option(words, key));
  select.value = value;
  select.onchange = () => change(select.value);
  return field(label, select);
}
