// Undo and redo: the settings, with drawn frames and painted units, as they were before each change. It keeps them as JSON; `main.js` says
// how they are taken over again.

import { settings } from "./state.js";

const MOST = 100;
const past = [], undone = [];
let present = null;
let restore = () => {};

// How the result is shown is no change.
const snapshot = () => JSON.stringify({ ...settings, raster: undefined });

/** Note the settings, if they are others than before. */
export function note() {
  const now = snapshot();
  if (now === present) return;
  if (present !== null) {
    past.push(present);
    if (past.length > MOST) past.shift();
    undone.length = 0;
  }
  present = now;
  tell();
}

function tell() {
  for (const button of document.querySelectorAll("[data-undo]")) button.disabled = !past.length;
}

function go(from, to) {
  note(); // what has changed a moment ago
  if (!from.length) return;
  to.push(present);
  present = from.pop();
  restore(JSON.parse(present));
  tell();
}

export const undo = () => go(past, undone);
export const redo = () => go(undone, past);

/** Say how settings are taken over. */
export function connectUndo(action) {
  restore = action;
  for (const button of document.querySelectorAll("[data-undo]")) button.onclick = undo;
}
