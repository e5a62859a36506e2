// Large type, for a projector: all sizes of type follow that of the root. It is remembered in this browser.

import { $ } from "./names.js";

const root = document.documentElement;
const NAME = "seqattractor-large-type";

/** How many times larger than usual the type is, for what is written on a canvas. */
export const typeScale = () => parseFloat(getComputedStyle(root).fontSize) / 15;

function set(large) {
  root.classList.toggle("large", large);
  $("large").setAttribute("aria-pressed", String(large));
  dispatchEvent(new Event("resize")); // everything is measured again
}

/** Let the button work. */
export function connectType() {
  let large = false;
  try {
    large = localStorage.getItem(NAME) === "1";
  } catch { /* a browser that remembers nothing */ }
  if (large) set(true);
  $("large").hidden = false;
  $("large").onclick = () => {
    large = !large;
    set(large);
    try {
      localStorage.setItem(NAME, large ? "1" : "0");
    } catch { /* it holds for this page */ }
  };
}
