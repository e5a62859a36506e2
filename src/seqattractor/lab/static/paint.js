// Flipping units of a grid with the pointer or the keyboard. The drawing and the cue use it: it turns pointer and keys into units, and they
// decide what touching a unit does. The keyboard has a cursor of its own, which is drawn with the frame.

/**
 * Make a canvas paintable.
 * @param grid a function that gives {rows, columns, units}
 * @param touch called as touch(unit, first) once for each unit of a stroke, also for those between two places of a quick one; `first` is
 *   true for its first unit
 * @param redraw called when the keyboard cursor moves; the returned object holds it in `cursor`
 */
export function paintable(canvas, grid, touch, redraw) {
  const state = { cursor: null };
  let stroke = null; // where the pointer was last, in units, and what it has touched

  const placeOf = (event) => {
    const { rows, columns } = grid();
    const box = canvas.getBoundingClientRect();
    return [Math.floor(((event.clientX - box.left) / box.width) * columns), Math.floor(((event.clientY - box.top) / box.height) * rows)];
  };
  const touchAt = ([x, y]) => {
    const { rows, columns, units } = grid();
    const unit = y * columns + x;
    if (x < 0 || y < 0 || x >= columns || y >= rows || unit >= units || stroke.touched.has(unit)) return;
    touch(unit, stroke.touched.size === 0);
    stroke.touched.add(unit);
  };

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    stroke = { at: placeOf(event), touched: new Set() };
    state.cursor = null;
    touchAt(stroke.at);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stroke) return;
    const parts = event.getCoalescedEvents?.() ?? [];
    for (const one of parts.length ? parts : [event]) {
      const to = placeOf(one);
      for (const place of line(stroke.at, to)) touchAt(place);
      stroke.at = to;
    }
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => { stroke = null; });

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

/** The places of a straight line after its first, each next to the one before. */
export function line([x0, y0], [x1, y1]) {
  const steps = Math.max(Math.abs(x1 - x0), Math.abs(y1 - y0));
  return Array.from({ length: steps }, (_, k) => [Math.round(x0 + ((x1 - x0) * (k + 1)) / steps), Math.round(y0 + ((y1 - y0) * (k + 1)) / steps)]);
}
