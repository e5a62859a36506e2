// Random numbers equal to numpy's for a seed: SeedSequence, PCG64, and of Generator what the lab draws (random, integers, choice
// of two, standard_normal). So starts and sequences of the playground are those of the library, and "The same in Python" is true to the
// bit. 128-bit arithmetic is in four words of 32 bits, many times as fast as BigInt. The tables of the normal sampler come from numpy, too
// (lab/export.py).

const TWO32 = 2 ** 32;
const M0 = 0x9fccf645, M1 = 0x4385df64, M2 = 0x1fc65da4, M3 = 0x2360ed05; // the multiplier of PCG64, lowest word first

/** The high word of the product of two words of 32 bits. */
function high(a, b) {
  return Math.floor((a * (b >>> 16) + Math.floor((a * (b & 0xffff)) / 65536)) / 65536);
}

const low = (a, b) => Math.imul(a, b) >>> 0;

/** Whole numbers, or one of them, as words of 32 bits. */
function words(numbers) {
  return [numbers].flat().flatMap((number) => (number < TWO32 ? [number >>> 0] : [number % TWO32, Math.floor(number / TWO32)]));
}

/** numpy.random.SeedSequence(entropy, spawn_key=key).generate_state(count, uint32). */
export function seedWords(entropy, key, count) {
  let constant = 0x43b0d7e5;
  const hashed = (value) => {
    let hash = value ^ constant;
    constant = Math.imul(constant, 0x931e8875);
    hash = Math.imul(hash, constant);
    return (hash ^ (hash >>> 16)) >>> 0;
  };
  const mixed = (x, y) => {
    const mix = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0;
    return (mix ^ (mix >>> 16)) >>> 0;
  };
  const own = words(entropy);
  while (key.length && own.length < 4) own.push(0);
  const all = [...own, ...words(key)];
  const pool = [0, 1, 2, 3].map((i) => hashed(all[i] ?? 0));
  for (let from = 0; from < 4; from++) for (let to = 0; to < 4; to++) if (from !== to) pool[to] = mixed(pool[to], hashed(pool[from]));
  for (const word of all.slice(4)) for (let to = 0; to < 4; to++) pool[to] = mixed(pool[to], hashed(word));
  constant = 0x8b51f9dd;
  return Array.from({ length: count }, (_, i) => {
    let hash = pool[i % 4] ^ constant;
    constant = Math.imul(constant, 0x58f38ded);
    hash = Math.imul(hash, constant);
    return (hash ^ (hash >>> 16)) >>> 0;
  });
}

/** zlib.crc32 of some bytes, which may continue that of others. */
export function crc32(bytes, before = 0) {
  let crc = ~before;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** numpy.random.Generator with PCG64. */
export class Generator {
  /** Begin with a seed; a purpose gives each use of it a stream of its own, as `noise.as_generator` does. */
  constructor(seed, purpose, normal) {
    const key = purpose ? [crc32(new TextEncoder().encode(purpose))] : [];
    const w = seedWords(seed, key, 8); // four numbers of 64 bits, each with its low word first; of two of them the first is the high one
    const start = [w[2], w[3], w[0], w[1]], stream = [w[6], w[7], w[4], w[5]];
    this.normal = normal;
    this.inc = Uint32Array.from(stream, (word, k) => (word << 1) | (k ? stream[k - 1] >>> 31 : 1));
    this.state = new Uint32Array(4);
    this.#step();
    let carry = 0;
    this.state.forEach((word, k) => {
      const sum = word + start[k] + carry;
      carry = sum >= TWO32 ? 1 : 0;
      this.state[k] = sum;
    });
    this.#step();
    this.saved = -1; // the half of a number that the next draw of 32 bits takes, if there is one
    this.high = this.low = 0; // of the last draw
  }

  #step() {
    const { state, inc } = this;
    const a = state[0], b = state[1], c = state[2], d = state[3];
    const r0 = low(a, M0) + inc[0];
    const r1 = high(a, M0) + low(a, M1) + low(b, M0) + inc[1] + Math.floor(r0 / TWO32);
    const r2 = high(a, M1) + high(b, M0) + low(a, M2) + low(b, M1) + low(c, M0) + inc[2] + Math.floor(r1 / TWO32);
    const top = high(a, M2) + high(b, M1) + high(c, M0) + Math.floor(r2 / TWO32);
    state[3] = top + Math.imul(a, M3) + Math.imul(b, M2) + Math.imul(c, M1) + Math.imul(d, M0) + inc[3];
    state[0] = r0;
    state[1] = r1;
    state[2] = r2;
  }

  /** Draw 64 bits, into `high` and `low`. */
  draw() {
    this.#step();
    const { state } = this;
    const top = state[3];
    const h = top ^ state[1], l = state[2] ^ state[0];
    const by = (top >>> 26) & 31; // to the right, and by 32 more where the highest bit is set
    const x = top >>> 31 ? l : h, y = top >>> 31 ? h : l;
    this.high = (by ? (x >>> by) | (y << (32 - by)) : x) >>> 0;
    this.low = (by ? (y >>> by) | (x << (32 - by)) : y) >>> 0;
  }

  /** Draw 32 bits: of each 64 first the low ones, then the high ones. */
  draw32() {
    if (this.saved >= 0) {
      const { saved } = this;
      this.saved = -1;
      return saved;
    }
    this.draw();
    this.saved = this.high;
    return this.low;
  }

  /** Generator.random(). */
  random() {
    this.draw();
    return (this.high * 2 ** 21 + (this.low >>> 11)) * 2 ** -53;
  }

  /** Generator.random(count). */
  randoms(count) {
    return Float64Array.from({ length: count }, () => this.random());
  }

  /** Generator.integers(from, to), of less than 2**21 numbers, by Lemire's way. */
  integers(from, to) {
    const span = to - from;
    if (span < 2) return from;
    let scaled = this.draw32() * span;
    if (scaled % TWO32 < span) {
      const unfair = (TWO32 - span) % span;
      while (scaled % TWO32 < unfair) scaled = this.draw32() * span;
    }
    return from + Math.floor(scaled / TWO32);
  }

  /** Generator.standard_normal(): the ziggurat of 256 layers. */
  standardNormal() {
    const { width, inside, height } = this.normal;
    for (;;) {
      this.draw();
      const layer = this.low & 0xff;
      const place = (this.high & 0x1fffffff) * 2 ** 23 + (this.low >>> 9);
      const x = (this.low & 0x100 ? -place : place) * width[layer];
      if (place < inside[layer]) return x;
      if (layer === 0) {
        const edge = width[255] * 2 ** 52;
        for (;;) {
          const beyond = -Math.log1p(-this.random()) * INVERSE_EDGE, other = -Math.log1p(-this.random());
          if (other + other > beyond * beyond) return Math.floor(place / 256) & 1 ? -(edge + beyond) : edge + beyond;
        }
      }
      if ((height[layer - 1] - height[layer]) * this.random() + height[layer] < Math.exp(-0.5 * x * x)) return x;
    }
  }

  /** Generator.standard_normal(count). */
  standardNormals(count) {
    const drawn = new Float64Array(count);
    for (let k = 0; k < count; k++) drawn[k] = this.standardNormal();
    return drawn;
  }
}

const INVERSE_EDGE = 0.27366123732975828; // 1 / the edge of the last layer

/** Flip exactly k units, chosen at random, of rows (rows, N) of +-1 in place: `noise.flip` with a generator. */
export function flip(rows, N, k, rng) {
  const drawn = rng.randoms(k ? rows.length : 0);
  for (let at = 0; at < drawn.length; at += N) {
    const row = drawn.subarray(at, at + N), last = row.slice().sort()[k - 1];
    for (let i = 0; i < N; i++) if (row[i] <= last) rows[at + i] = -rows[at + i];
  }
}
