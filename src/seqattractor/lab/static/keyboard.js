// The keyboard, wherever the focus is: space plays, arrows step, Ctrl+Z undoes; and the link that leads past the settings. Fields and
// canvases that use keys themselves keep theirs.

import { $ } from "./names.js";
import { redo, undo } from "./undo.js";

const WRITES = "input:not([type=range], [type=checkbox]), textarea, select";
const TAKES_ARROWS = "input, select, textarea, [role=radio], canvas[tabindex], pre";
const TAKES_SPACE = "button, summary, a, input:not([type=range]), select, textarea, canvas[tabindex]";

/** Let the keyboard work. */
export function connectKeyboard() {
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (event.defaultPrevented || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      const back = key.toLowerCase() === "z" && !event.shiftKey;
      const again = key.toLowerCase() === "y" || (key.toLowerCase() === "z" && event.shiftKey);
      if (target.closest(WRITES) || !(back || again)) return;
      (back ? undo : redo)();
    } else if (key === " " && !target.closest(TAKES_SPACE)) $("play").click();
    else if (key === "ArrowLeft" && !target.closest(TAKES_ARROWS)) $("back").click();
    else if (key === "ArrowRight" && !target.closest(TAKES_ARROWS)) $("forward").click();
    else return;
    event.preventDefault();
  });
  $("skip").onclick = (event) => { // the part of the address after # holds the settings
    event.preventDefault();
    $("h-recall").focus();
    $("h-recall").scrollIntoView();
  };
}
