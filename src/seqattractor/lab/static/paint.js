// Flipping units of a grid with the pointer or the keyboard. The drawing and the cue use it: it turns pointer and keys into units, and they
// decide what touching a unit does. The keyboard has a cursor of its own, which is drawn with the frame.

/**
 * Make a canvas paintable.
 * @param grid a function that gives {rows, columns, units}
 * @param touch called as touch(unit, first) for each unit of a stroke; `first` is true for its first unit
 * @param redraw called when the keyboard cursor moves; the returned object holds it in `cursor`
 */
export function paintable(canvas, grid, touch, redraw) {
  const state = { cursor: null };
  let last = null;

  const unitAt = (event) => {
    const { rows, columns, units } = grid();
    const box = canvas.getBoundingClientRect();
    const x = Math.floor(((event.clientX - box.left) / box.width) * columns);
    const y = Math.floor(((event.clientY - box.top) / box.height) * rows);
    if (x < 0 || y < 0 || x >= columns || y >= rows) return null;
    return y * columns + x < units ? y * columns + x : null;
  };

  canvas.addEventListener("pointerdown", (event) => {
    const unit = unitAt(event);
    if (unit === null) return;
    canvas.setPointerCapture(event.pointerId);
    last = unit;
    state.cursor = null;
    touch(unit, true);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (last === null) return;
    for (const one of event.getCoalescedEvents?.() ?? [event]) {
      const unit = unitAt(one);
      if (unit !== null && unit !== last) {
        last = unit;
        touch(unit, false);
      }
    }
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { last = null; });

  canvas.addEventListener("keydown", (event) => {
    const { columns, units } = grid();
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    if (event.key in moves) {
      const next = (state.cursor ?? 0) + (state.cursor === null ? 0 : moves[event.key]);
      if (next >= 0 && next < units) state.cursor = next;
      redraw();
    } else if ((event.key === " " || event.key === "Enter") && state.cursor !== null) {
      touch(state.cursor, true);
    } else return;
    event.preventDefault();
  });
  canvas.addEventListener("blur", () => { state.cursor = null; redraw(); });
  return state;
}
