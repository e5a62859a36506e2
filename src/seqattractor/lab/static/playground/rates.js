// How often a recall succeeds at a level of noise, tried with many cues: the counterpart of lab/rates.py. Runs from the same place soon meet each
// other, so that the successor of a state is computed once for all runs that are in it.

import { corruptedCue, cueRows, lockRow, stepsFor } from "./recall.js";
import { flip, Generator } from "./random.js";
import { concatenated, keyOf, Stored } from "./sequences.js";

export const TRIALS = 100;
const MOST = 2e11; // weights * steps * trials: a few seconds
const AT_ONCE = 2 ** 26; // values of trials that the library recalls side by side, which shares its random numbers

/** For each network how many of 100 cues lock on; null where trying that takes long. */
export function lockedOn(nets, data, cue, limits, normal) {
  const { N } = data, order = Math.max(...nets.map((net) => net.order)), steps = stepsFor(data, cue.start, order, limits);
  if (nets.reduce((sum, net) => sum + net.size, 0) * steps * TRIALS > MOST) return null;
  const rows = cueRows(data, cue.start, order), stored = Stored.of(data, order);
  return nets.map((net) => {
    const start = rows.at(-net.order), [s, frame] = Stored.of(data).place(start), rng = new Generator(cue.flips, "trials", normal);
    const looked = steps + 2 * (stored.period(s, net.order) ?? 0), atOnce = Math.max(1, Math.floor(AT_ONCE / ((net.order + looked) * N)));
    const truth = stored.following(s, frame, net.order + steps, net.order);
    let successes = 0;
    for (let done = 0; done < TRIALS; done += atOnce) {
      const cues = Array.from({ length: Math.min(atOnce, TRIALS - done) }, () => corruptedCue(data, { ...cue, start }, net.order, normal, rng));
      for (const path of recallAll(net, cues, steps, looked, cue.noise, rng)) {
        successes += lockRow(path, truth, Math.min(net.order, truth.length / N), N) !== null;
      }
    }
    return successes;
  });
}

/** The states of runs side by side, each (order + steps, N); as many random numbers are drawn as for `looked` steps. */
function recallAll(net, cues, steps, looked, noise, rng) {
  const { N, order } = net, width = order * N;
  let states = cues.map((cue) => cue.slice());
  const paths = cues.map((cue) => [cue]);
  for (let t = 0; t < (noise ? looked : steps); t++) {
    if (noise) {
      const newest = concatenated(states.map((state) => state.subarray(width - N)));
      flip(newest, N, noise, rng);
      states.forEach((state, b) => state.set(newest.subarray(b * N, (b + 1) * N), width - N));
    }
    if (t >= steps) continue;
    const numbers = new Map(), different = [];
    const at = states.map((state) => {
      const key = keyOf(state, 0, width);
      if (!numbers.has(key)) numbers.set(key, different.push(state) - 1);
      return numbers.get(key);
    });
    const next = net.nextPatterns(concatenated(different), different.length);
    states = states.map((state, b) => {
      const following = next.subarray(at[b] * N, (at[b] + 1) * N);
      paths[b].push(following);
      return concatenated([state.subarray(N), following]);
    });
  }
  return paths.map(concatenated);
}
