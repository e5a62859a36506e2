// Parts of the playground by themselves; as a whole it is compared with the library.
import assert from "node:assert/strict";
import test from "node:test";
import { load } from "./modules.mjs";

const { fixed } = await load("playground/recall.js");
const { general, inSteps, rint } = await load("playground/networks.js");
const { asFloat } = await load("playground/materials.js");
const { closeLoops, describeConflicts, findConflicts, loopsOf, Stored } = await load("playground/sequences.js");

test("numbers are rounded as Python rounds them, halves to even digits", () => {
  assert.deepEqual([0.125, 0.375, -0.125, 0.03125, 1, 0.005].map((value) => fixed(value, 2)), ["0.12", "0.38", "-0.12", "0.03", "1.00", "0.01"]);
  assert.equal(fixed(0.03125, 4), "0.0312");
  assert.deepEqual([0.5, 1.5, 2.5, -0.5, -1.5, 2 ** 52 + 1].map(rint), [0, 2, 2, 0, -2, 2 ** 52 + 1]);
});

test("numbers are written as Python writes them", () => {
  assert.deepEqual([1, 0.001, 1e-5, 1e-6, 2.5, 1e6].map(asFloat), ["1.0", "0.001", "1e-05", "1e-06", "2.5", "1000000.0"]);
  assert.deepEqual([0.001, 1e-6, 2 ** 40, 5].map((value) => general(value)), ["0.001", "1e-06", "1.09951e+12", "5"]);
  assert.equal(general(2 ** 29, 3), "5.37e+08");
});

test("weights are on the grid", () => {
  assert.equal(inSteps(0.07, 0.07), 1);
  assert.equal(inSteps(1e-12, 1), 0);
});

const rows = (...patterns) => ({ x: Int8Array.from(patterns.flat()), N: 2, lengths: [patterns.length], closed: 0 });
const [a, b, c] = [[1, 1], [1, -1], [-1, 1]];

test("a loop goes on for as long as a network looks back", () => {
  const loop = rows(a, b, c, a);
  assert.deepEqual(loopsOf(loop), [true]);
  assert.deepEqual([...closeLoops(loop, 2).x], [a, b, c, a, b].flat());
  assert.deepEqual([...closeLoops(rows(a, b, c), 2).x], [a, b, c].flat());
  assert.deepEqual([...Stored.of(loop).following(0, 2, 4, 1)], [c, a, b, c].flat());
  assert.deepEqual([...Stored.of(rows(a, b, c)).following(0, 2, 4, 1)], c);
});

test("a pattern with two successors is found, and the context that resolves it", () => {
  assert.equal(findConflicts(rows(a, b, c)).context, 1);
  const clash = findConflicts(rows(a, b, a, c));
  assert.equal(clash.context, 2);
  assert.match(describeConflicts(clash), /^pattern 0 of sequence 0 occurs again as pattern 2 of .* use order=2\.$/);
  assert.equal(findConflicts({ ...rows(a, b, a, c), lengths: [2, 2] }).context, null);
});

test("a recall follows what it follows to the end", () => {
  const stored = Stored.of(rows(a, b, c, a));
  const followed = stored.followedBy(Int8Array.from([[-1, -1], b, c, a, b, c].flat()), 1, 0);
  assert.deepEqual(followed, { since: 1, until: 6, sequence: 0, frame: 1, mirrored: false });
  assert.equal(stored.followedBy(Int8Array.from([a, a, a, a].flat()), 1, 0), null);
});
