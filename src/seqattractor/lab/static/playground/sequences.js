// Sequences of +-1 patterns: loops, transitions, patterns with two successors, and the sequences that a recall may follow. The counterpart of
// sequences/ and tasks/stored.py. Patterns (T, N) are an Int8Array, row after row; `lengths` says how many rows belong to each sequence.

/** A request that is rejected, with a status as of a server, and one sentence. */
export class Rejection extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

/** The first row of each sequence. */
export const firsts = (lengths) => lengths.map((_, s) => lengths.slice(0, s).reduce((sum, n) => sum + n, 0));

export const equalRows = (a, i, b, j, N) => {
  for (let k = 0; k < N; k++) if (a[i * N + k] !== b[j * N + k]) return false;
  return true;
};

/** A row as a key: equal rows have equal ones. */
export function keyOf(x, row, N) {
  let key = "", word = 0;
  for (let k = 0; k < N; k++) {
    word = (word << 1) | (x[row * N + k] > 0 ? 1 : 0);
    if (k % 16 === 15 || k === N - 1) {
      key += String.fromCharCode(word);
      word = 0;
    }
  }
  return key;
}

/** Put arrays one after the other. */
export function concatenated(parts) {
  const all = new Int8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The sequences of data one by one, each an Int8Array. */
export const split = ({ x, N, lengths }) => firsts(lengths).map((first, s) => x.subarray(first * N, (first + lengths[s]) * N));

/** Whether each sequence is a loop. */
export function loopsOf({ x, N, lengths, closed }) {
  return split({ x, N, lengths }).map((part, s) => closed > 0 || (lengths[s] > 1 && equalRows(part, 0, part, lengths[s] - 1, N)));
}

/** Data with loops continued for a network that sees the last `order` patterns. */
export function closeLoops(data, order) {
  const { N, lengths } = data, loops = loopsOf(data);
  const parts = split(data).map((part, s) => {
    if (!loops[s]) return part;
    const once = part.subarray(0, (lengths[s] - (data.closed || 1)) * N);
    const more = new Int8Array(order * N);
    for (let k = 0; k < more.length; k++) more[k] = once[k % once.length];
    return concatenated([once, more]);
  });
  return { ...data, x: concatenated(parts), lengths: parts.map((part) => part.length / N), closed: loops.every(Boolean) ? order : 0 };
}

/** What follows what: inputs (n, order * N), the last patterns side by side, oldest first, and targets (n, N). */
export function transitions({ x, N, lengths }, order) {
  const inputs = [], targets = [], first = firsts(lengths);
  lengths.forEach((length, s) => {
    for (let t = first[s]; t + order < first[s] + length; t++) {
      inputs.push(x.subarray(t * N, (t + order) * N));
      targets.push(x.subarray((t + order) * N, (t + order + 1) * N));
    }
  });
  return { inputs: concatenated(inputs), targets: concatenated(targets), n: inputs.length };
}

/** Patterns that have two successors with a context of `order` patterns, and the context that resolves this. */
export function findConflicts({ x, N, lengths }, order = 1) {
  const ids = new Map(), names = [], index = [], sequence = [];
  lengths.forEach((length, s) => { for (let t = 0; t < length; t++) { index.push(t); sequence.push(s); } });
  const numbered = (map, key) => {
    if (!map.has(key)) map.set(key, map.size);
    return map.get(key);
  };
  for (let t = 0; t < index.length; t++) names.push(numbered(ids, keyOf(x, t, N)));
  const clashes = (groups, length) => { // the first place of each group, and the first later one with another successor
    const first = new Map(), found = new Map();
    for (let t = 0; t < index.length; t++) {
      if (index[t] < length - 1 || index[t] === lengths[sequence[t]] - 1) continue;
      if (!first.has(groups[t])) first.set(groups[t], t);
      else if (!found.has(groups[t]) && names[t + 1] !== names[first.get(groups[t]) + 1]) found.set(groups[t], [first.get(groups[t]), t]);
    }
    return [...found.values()].sort((a, b) => a[0] - b[0]);
  };
  const longer = (groups) => { // one pattern more, further back
    const map = new Map();
    return groups.map((_, t) => numbered(map, t ? `${groups[t]},${groups[t - 1]}` : `${groups[t]}`));
  };
  let groups = names, length = 1, context = null, at = null;
  const shortest = Math.min(...lengths);
  while (context === null || at === null) {
    const found = clashes(groups, length);
    if (length === order) at = found;
    if (context === null && !found.length) context = length;
    groups = longer(groups);
    length += 1;
  }
  const place = (t) => ({ s: sequence[t], t: index[t] });
  return { found: at.map((pair) => pair.map(place)), context: context < shortest ? context : null, shortest };
}

/** Describe conflicts in a sentence, with places counted from 0, as the library does. */
export function describeConflicts({ found, context, shortest }) {
  const [[first, second]] = found, rest = found.length - 1;
  const more = rest ? ` (and ${rest} more such pattern${rest > 1 ? "s" : ""})` : "";
  const remedy = context !== null ? `a context of ${context} patterns resolves all conflicts: use order=${context}.`
    : `no context resolves this that fits into the shortest sequence, of ${shortest} patterns: drop or change one of them.`;
  return `pattern ${first.t} of sequence ${first.s} occurs again as pattern ${second.t} of sequence ${second.s} with a different successor${more}, so that no network can predict it; ${remedy}`;
}

/** The sequences that a network has learned. */
export class Stored {
  constructor({ x, N, lengths }, closed) {
    this.N = N;
    this.sequences = split({ x, N, lengths });
    this.lengths = lengths;
    this.closed = closed;
    this.names = lengths.map((_, s) => `sequence ${s + 1}`);
  }

  /** Sequences as they are, or with loops closed for a network that sees the last `order` patterns. */
  static of(data, order = null) {
    const closed = loopsOf(data).map((loop) => (loop ? order ?? (data.closed || 1) : 0));
    return new Stored(order === null ? data : closeLoops(data, order), closed);
  }

  /** The sequence and the frame of a row. */
  place(row) {
    let s = 0;
    while (row >= this.lengths[s]) row -= this.lengths[s++];
    return [s, row];
  }

  period(s, order) {
    return this.closed[s] >= order ? this.lengths[s] - this.closed[s] : null;
  }

  /** The patterns from a frame on: round and round in a loop, else to the end. */
  following(s, frame, rows, order) {
    const { N } = this, period = this.period(s, order), length = this.lengths[s];
    const count = period === null ? Math.max(0, Math.min(rows, length - frame)) : rows;
    const found = new Int8Array(count * N);
    for (let k = 0; k < count; k++) {
      const at = period === null ? frame + k : (frame + k) % period;
      found.set(this.sequences[s].subarray(at * N, (at + 1) * N), k * N);
    }
    return found;
  }

  /** The stored sequence, or the negative of one, that a recall comes to follow for long enough; null if there is none. */
  followedBy(states, order, prefer) {
    const { N } = this, places = new Map();
    this.sequences.forEach((x, s) => {
      const rounds = this.period(s, order) || this.lengths[s];
      for (let frame = 0; frame < rounds; frame++) {
        const key = keyOf(x, frame, N);
        places.set(key, [...(places.get(key) ?? []), [s, frame]]);
      }
    });
    const runs = [false, true].flatMap((mirrored) => this.#runs(mirrored ? states.map((v) => -v) : states, order, places, mirrored));
    const enough = (run) => Math.min(this.period(run.sequence, order) ?? Infinity, run.until / 2);
    const rank = (run) => [run.since, Number(run.mirrored), Number(run.sequence !== prefer)];
    let best = null;
    for (const run of runs.filter((r) => r.until - r.since >= enough(r))) {
      if (!best || lessThan(rank(run), rank(best))) best = run;
    }
    return best;
  }

  /** Every longest stretch of rows that follows a sequence to its end or to that of the rows. */
  #runs(states, order, places, mirrored) {
    const { N } = this, K = states.length / N, complete = [];
    let after = new Map();
    for (let row = K - 1; row >= 0; row--) {
      const here = new Map();
      for (const [sequence, frame] of places.get(keyOf(states, row, N)) ?? []) {
        const period = this.period(sequence, order);
        const following = period !== null ? (frame + 1) % period : frame + 1 < this.lengths[sequence] ? frame + 1 : null;
        let until = null;
        if (following === null || row === K - 1) until = row + 1;
        else until = after.get(`${sequence},${following}`) ?? null;
        if (until === null) continue;
        here.set(`${sequence},${frame}`, until);
        complete.push({ since: row, until, sequence, frame, mirrored });
      }
      after = here;
    }
    return complete;
  }
}

function lessThan(a, b) {
  for (let k = 0; k < a.length; k++) if (a[k] !== b[k]) return a[k] < b[k];
  return false;
}
