// Success against noise: of 100 cues at each level of random flips, how many lock on, for both networks. The curve is asked for
// point by point while its card is seen, and it says how cues like the present one fare.

import * as api from "./api.js";
import { palette, prepare } from "./canvas.js";
import { axes, curve, frame } from "./charts.js";
import { $, letter } from "./names.js";
import { cueSpec, isLearned, lab, learnKey, settings, units } from "./state.js";

const LEVELS = [0, 50, 20, 40, 10, 30, 45, 35, 25, 15, 5]; // percent of the units, in the order in which they are tried
let known = { key: null, points: new Map(), asked: new Map() }; // counts of each level, for the settings of the key; null where trying takes too long
let scene = null; // what was recalled: {runs, radii}
let loop = 0; // the newest loop; older ones end
let seen = false; // whether the card is on the screen
let say = () => {};

/** All that the curve depends on; of the cue everything but how many units are flipped, and which. */
const keyOf = () => JSON.stringify([learnKey(), { ...cueSpec(), flips: 0, seed: 0 }]);

/** A new recall is on the stage, or none (null); `tell` is called with a sentence on cues like this one, as soon as it is known. */
export function showNoise(runs, tell) {
  scene = runs && { runs, radius: runs.map(() => null) };
  say = tell;
  if (known.key !== keyOf() || !isLearned()) known = { key: keyOf(), points: new Map(), asked: new Map() };
  drawNoise();
  measure();
}

/** The certified radius of what each network sees first, once it is known. */
export function markRadii(radii) {
  if (scene) scene.radius = radii;
  drawNoise();
}

/** Ask for what is missing: how cues like this one fare, and, while one sees the card, the curve. */
async function measure() {
  const mine = ++loop;
  const still = () => mine === loop && scene && isLearned() && !lab.running;
  $("noise").setAttribute("aria-busy", String(Boolean(scene)));
  for (const level of [settings.cue.flips, ...LEVELS]) {
    if (!still()) return;
    if (!seen && !(level === settings.cue.flips && lab.advice?.key === learnKey())) continue;
    if (!known.points.has(level)) {
      const { points, asked } = known; // what an older loop has asked for is not asked for again
      if (!asked.has(level)) asked.set(level, api.quietly("rates", { cue: { ...cueSpec(), flips: units(level) } }));
      try {
        points.set(level, (await asked.get(level)).locked_on);
      } catch { /* the page is complete without it */
        asked.delete(level);
        return;
      }
    }
    if (!still()) return;
    if (level === settings.cue.flips) say(sayRates());
    drawNoise();
  }
  if (seen || !scene) $("noise").setAttribute("aria-busy", "false");
}

/** How cues like this one fare, in a sentence; nothing while it is not known. */
function sayRates() {
  const counts = known.points.get(settings.cue.flips);
  if (!counts || !scene) return "";
  const all = counts.map((count, k) => `${letter(k, counts.length, "", " ")}${counts.length > 1 ? "" : "it "}locks on ${count} ${count === 1 ? "time" : "times"}`);
  return `From 100 cues like this one, each with ${settings.cue.flips} % of the units flipped at random, ${all.join(" and ")}.`;
}

/** Draw the curve with what is known of it. */
export function drawNoise() {
  const canvas = $("noise-chart");
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (!width) return;
  const { LEFT, BOTTOM, TOP, RIGHT } = frame();
  const context = prepare(canvas, width, height);
  const color = palette();
  const x = (percent) => LEFT + ((width - LEFT - RIGHT - 6) * percent) / 50;
  const y = (count) => height - BOTTOM - ((height - BOTTOM - TOP) * count) / 100;
  axes(context, color, width, height, [[0, "0"], [50, "50"], [100, "100"]], y);
  context.textBaseline = "alphabetic";
  for (const percent of [0, 10, 20, 30, 40, 50]) {
    context.textAlign = percent === 0 ? "left" : percent === 50 ? "right" : "center";
    context.fillText(`${percent} %`, x(percent), height - 4);
  }
  const runs = scene?.runs ?? [];
  const levels = [...known.points.keys()].filter((level) => known.points.get(level)).sort((a, b) => a - b);
  runs.forEach((run, k) => {
    const ink = color(k ? "b" : "a");
    curve(context, levels.map((level) => [x(level), y(known.points.get(level)[k])]), ink, k ? [6, 3] : []);
    context.fillStyle = ink;
    for (const level of levels) {
      context.beginPath();
      context.arc(x(level), y(known.points.get(level)[k]), 2.5, 0, 7);
      context.fill();
    }
    const radius = scene.radius[k];
    if (radius !== null && lab.material) { // up to here the first step is proven to be right
      const at = x((100 * radius) / lab.material.units);
      context.fillStyle = ink;
      context.beginPath();
      context.moveTo(at, height - BOTTOM);
      context.lineTo(at - 5, height - BOTTOM + 8);
      context.lineTo(at + 5, height - BOTTOM + 8);
      context.fill();
    }
    const outcome = y(run.good ? 100 : 0); // of the present cue: it locked on, or not
    context.fillStyle = context.strokeStyle = color("ink");
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x(settings.cue.flips), outcome, 6 + 2 * k, 0, 7);
    if (k) context.stroke(); else context.fill();
  });
  tellAll(levels, runs);
}

/** The same in words. */
function tellAll(levels, runs) {
  const counts = runs.map((run, k) => levels.map((level) => `${known.points.get(level)[k]} at ${level} %`).join(", "));
  const all = counts.map((words, k) => `${letter(k, runs.length, "", ": ")}${words || "not tried yet"}`).join("; ");
  $("noise-chart").setAttribute("aria-label", runs.length ? `Of 100 cues, how many lock on. ${all}` : "Success against noise: nothing is recalled yet");
  const given = (scene?.radius ?? []).map((radius, k) => (radius === null ? "" : `${letter(k, runs.length, "", " ")}${radius} of ${lab.material.units} units`)).filter(Boolean);
  $("noise-radius").textContent = given.join(", ");
  $("noise-legend").hidden = !runs.length;
  $("noise-legend-a").textContent = `${letter(0, runs.length, "", ": ")}100 cues at each level of random flips`;
  $("noise-legend-b").hidden = runs.length < 2;
  $("noise-radius").parentElement.hidden = !given.length;
  $("noise-said").textContent = [...known.points.values()].includes(null) ? "These networks are too large to try 100 cues here; the library has sa.robustness_curve." : sayRates();
}

/** Measure while the card is seen. */
export function connectNoise() {
  new IntersectionObserver((entries) => {
    seen = entries.at(-1).isIntersecting;
    if (seen) measure();
  }).observe($("noise"));
}
