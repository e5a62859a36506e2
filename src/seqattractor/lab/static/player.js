// Play, pause, step and scrub. It moves through the moments of the scene on the stage at the chosen speed, and calls back for each; it
// knows only how many there are. Whoever asked for little motion starts it by hand.

import { $ } from "./names.js";

/** Moves through `steps` moments and calls `show(step)` for each. */
export class Player {
  constructor(show) {
    this.show = show;
    this.slow = () => 1; // how many times longer than usual a step is shown
    this.steps = 1;
    this.now = 0;
    this.timer = null;
    $("play").onclick = () => (this.timer ? this.pause() : this.play());
    $("back").onclick = () => { this.pause(); this.go(this.now - 1); };
    $("forward").onclick = () => { this.pause(); this.go(this.now + 1); };
    $("scrub").oninput = () => { this.pause(); this.go(Number($("scrub").value)); };
    $("speed").onchange = () => { if (this.timer) { this.pause(); this.play(); } };
  }

  /** Take a new number of steps and stay where it was, or begin again. */
  load(steps, { keep = false } = {}) {
    this.steps = Math.max(1, steps);
    $("scrub").max = String(this.steps - 1);
    this.go(keep ? Math.min(this.now, this.steps - 1) : 0);
  }

  go(step) {
    this.now = Math.max(0, Math.min(this.steps - 1, step));
    $("scrub").value = String(this.now);
    this.show(this.now);
  }

  play() {
    if (this.timer || this.steps < 2) return;
    if (this.now >= this.steps - 1) this.go(0);
    $("play").textContent = "❚❚";
    $("play").setAttribute("aria-label", "Pause");
    let next = performance.now() + (this.now === 0 ? 900 : 0); // a moment to look at the cue
    const tick = (time) => {
      this.timer = requestAnimationFrame(tick);
      const pause = 1000 / Number($("speed").value);
      if (time < next) return;
      if (this.now >= this.steps - 1) {
        if (!this.looping) { this.pause(); return; }
        this.go(0);
      } else this.go(this.now + 1);
      next = Math.max(next + pause * this.slow(this.now), time);
    };
    this.timer = requestAnimationFrame(tick);
  }

  pause() {
    cancelAnimationFrame(this.timer);
    this.timer = null;
    $("play").textContent = "▶";
    $("play").setAttribute("aria-label", "Play");
  }
}
