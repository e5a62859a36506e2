// Patterns travel as bits in base64: one bit per unit, most significant first. Recalls, sequences and cues come from the server so, and
// links carry drawn frames so. Units of grey and colour stand for a level together (sequences/_level_code.py). Nothing here knows of the
// page: the playground's worker uses it, too.

/** Unpack `count` bits into an array of 0 and 1. */
export function unpack(text, count) {
  const bytes = atob(text);
  const bits = new Uint8Array(count);
  for (let i = 0; i < count; i++) bits[i] = (bytes.charCodeAt(i >> 3) >> (7 - (i & 7))) & 1;
  return bits;
}

/** Pack an array of 0 and 1. */
export function pack(bits) {
  const bytes = new Uint8Array(Math.ceil(bits.length / 8));
  for (let i = 0; i < bits.length; i++) if (bits[i]) bytes[i >> 3] |= 128 >> (i & 7);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}

/** The level that a group of units stands for, from its first one on: of a thermometer, how many are on. */
export function levelAt(bits, at, code) {
  let level = 0, bit = 0;
  for (let k = at; k < at + code.bits; k++) {
    if (code.kind === "thermometer") level += bits[k];
    else { bit ^= bits[k]; level = 2 * level + bit; }
  }
  return Math.min(level, code.n_levels - 1);
}
