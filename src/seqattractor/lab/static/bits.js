// Patterns travel as bits in base64: one bit per unit, most significant first.

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
