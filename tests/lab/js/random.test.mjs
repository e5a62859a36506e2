// Random numbers are numpy's, for many seeds: test_lab_playground.py writes down what numpy draws.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { load } from "./modules.mjs";

const { crc32, flip, Generator } = await load("playground/random.js");
const { readData } = await load("playground/data.js");
const { normal } = readData(JSON.parse(readFileSync(`${process.env.MODULES}/playground/data.json`)));
const cases = JSON.parse(readFileSync(process.env.NUMPY));

for (const { seed, purpose, ...drawn } of cases) {
  test(`seed ${seed}, ${purpose || "no purpose"}`, () => {
    const rng = new Generator(seed, purpose, normal);
    assert.deepEqual([...rng.randoms(5)], drawn.randoms);
    assert.deepEqual(drawn.integers.map((_, k) => rng.integers(0, 2 + 37 * k)), drawn.integers);
    assert.deepEqual([...rng.standardNormals(4000)], drawn.normals);
    assert.deepEqual(drawn.choices.map(() => (rng.integers(0, 2) ? 1 : -1)), drawn.choices);
    assert.deepEqual([...rng.randoms(3)], drawn.again);
    const x = new Int8Array(60).fill(1);
    flip(x, 30, 7, new Generator(seed, "flip", normal));
    assert.deepEqual([...x], drawn.flipped);
  });
}

test("the seeds are those of a few different widths", () => assert.ok(cases.some(({ seed }) => seed >= 2 ** 32)));

test("crc32 is zlib's", () => {
  assert.equal(crc32(new TextEncoder().encode("123456789")), 0xcbf43926);
  assert.equal(crc32(new Uint8Array()), 0);
});

test("a flip of nothing draws nothing", () => {
  const rng = new Generator(3, "flip", normal), x = new Int8Array(4).fill(1);
  flip(x, 4, 0, rng);
  assert.deepEqual([...x], [1, 1, 1, 1]);
  assert.equal(rng.random(), new Generator(3, "flip", normal).random());
});
