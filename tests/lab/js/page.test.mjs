// Parts of the page that need no browser: bits, links, words, places on charts.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./modules.mjs";

Object.assign(globalThis, { document: { documentElement: {} }, getComputedStyle: () => ({ fontSize: "15px" }) }); // type of the usual size

const { levelAt, pack, unpack } = await load("bits.js");
const { decode, encode } = await load("link.js");
const { summary } = await load("words.js");
const { stepAt } = await load("charts.js");
const { letter } = await load("names.js");

test("bits go both ways, the most significant first", () => {
  assert.equal(pack([1, 0, 0, 0, 0, 0, 0, 1]), btoa("\x81"));
  for (const count of [1, 7, 8, 9, 64, 65]) {
    const bits = Uint8Array.from({ length: count }, (_, k) => (k * k) % 3 === 1);
    assert.deepEqual(unpack(pack(bits), count), bits);
  }
});

test("a thermometer has as many levels as units are on, and a Gray code counts", () => {
  assert.equal(levelAt([1, 1, 0], 0, { kind: "thermometer", bits: 3, n_levels: 4 }), 2);
  const gray = [[0, 0], [0, 1], [1, 1], [1, 0]];
  gray.forEach((bits, level) => assert.equal(levelAt(bits, 0, { kind: "gray", bits: 2, n_levels: 4 }), level));
  assert.equal(levelAt([1, 0], 0, { kind: "gray", bits: 2, n_levels: 3 }), 2); // there is no fourth
});

test("a link carries settings, with any letters in them", () => {
  const settings = { sequence: { name: "walker" }, networks: [{}], cue: {}, note: "ξ → ζ?" };
  const link = encode(settings);
  assert.match(link, /^#v1\.[\w-]+$/);
  assert.deepEqual(decode(link), settings);
});

test("no link is none, a damaged one an error, a long one not made", () => {
  assert.equal(decode(""), null);
  assert.equal(decode("#"), null);
  for (const damaged of ["#v2.e30", "#v1.e30", "#v1.%%%", "#v1.bnVsbA"]) assert.throws(() => decode(damaged), undefined, damaged);
  assert.equal(encode({ bits: "x".repeat(40000) }), null);
});

const learned = { epochs: 5, converged: true, right: 1, degree: null, learns: true };

test("how learning ended, in words", () => {
  const say = (state, ...networks) => summary({ state, note: "", networks: networks.map((n) => ({ ...learned, ...n })) });
  assert.equal(say("done", {}), "Learned without errors in 5 epochs.");
  assert.equal(say("done", { epochs: 1 }), "Learned without errors in 1 epoch.");
  assert.equal(say("done", { converged: false }), "5 epochs; all steps are right, but not all by the margin κ.");
  assert.equal(say("done", { converged: false, right: 0.999 }), "5 epochs; some errors left, 99 % of the steps are right.");
  assert.equal(say("done", { epochs: 0 }), "Learned in one go; 100 % of the steps are right.");
  assert.equal(say("stopped", {}, { right: null }), "A: learned without errors in 5 epochs. B: not learned yet.");
});

test("a place on a chart is a step, and never beyond its ends", () => {
  const canvas = { getBoundingClientRect: () => ({ left: 100, width: 248 }) }; // 200 of them between the margins
  assert.deepEqual([0, 140, 240, 340, 900].map((x) => stepAt(canvas, x, 11)), [0, 0, 5, 10, 10]);
});

test("networks have letters only where there are two", () => {
  assert.equal(letter(0, 1, "", ": "), "");
  assert.equal(letter(1, 2, "", ": "), "B: ");
});
