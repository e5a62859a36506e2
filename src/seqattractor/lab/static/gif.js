// An animated GIF, made in the page: frames of the same size, of up to 256 colours in all. It takes pictures of few colours and gives the
// bytes of a file; nothing here knows of the page.

const LARGEST = 4096; // codes of the compression

/** The colours of pictures as a palette of red, green and blue, and the number of the colour of each pixel. */
function indexed(pictures) {
  const numbers = new Map();
  const few = pictures.every(({ data }) => {
    const pixels = new Uint32Array(data.buffer);
    for (let i = 0; i < pixels.length; i++) {
      if (!numbers.has(pixels[i])) numbers.set(pixels[i], numbers.size);
      if (numbers.size > 256) return false;
    }
    return true;
  });
  const table = new Uint8Array(768);
  if (few) {
    for (const [color, k] of numbers) table.set([color & 255, (color >> 8) & 255, (color >> 16) & 255], 3 * k);
    return { table, frames: pictures.map(({ data }) => Uint8Array.from(new Uint32Array(data.buffer), (pixel) => numbers.get(pixel))) };
  }
  for (let k = 0; k < 256; k++) table.set([Math.round((k >> 5) * 255 / 7), Math.round(((k >> 2) & 7) * 255 / 7), Math.round((k & 3) * 85)], 3 * k);
  const nearest = (pixel) => (Math.round((pixel & 255) * 7 / 255) << 5) | (Math.round(((pixel >> 8) & 255) * 7 / 255) << 2) | Math.round(((pixel >> 16) & 255) / 85);
  return { table, frames: pictures.map(({ data }) => Uint8Array.from(new Uint32Array(data.buffer), nearest)) };
}

/** Numbers of 8 bits, compressed as GIF wants them (LZW), in blocks of up to 255 bytes. */
function compressed(pixels) {
  const bytes = [];
  let held = 0, bits = 0;
  let size = 9, next = 258;
  let codes = new Map();
  const put = (code) => {
    held |= code << bits;
    bits += size;
    while (bits >= 8) { bytes.push(held & 255); held >>>= 8; bits -= 8; }
  };
  put(256);
  let prefix = pixels[0];
  for (let i = 1; i < pixels.length; i++) {
    const key = prefix * 256 + pixels[i];
    const known = codes.get(key);
    if (known !== undefined) { prefix = known; continue; }
    put(prefix);
    prefix = pixels[i];
    if (next === LARGEST) { // begin a new table
      put(256);
      [codes, size, next] = [new Map(), 9, 258];
      continue;
    }
    codes.set(key, next);
    if (next === 1 << size) size += 1;
    next += 1;
  }
  put(prefix);
  if (next === 1 << size && size < 12) size += 1;
  put(257);
  if (bits) bytes.push(held & 255);
  const blocks = [];
  for (let i = 0; i < bytes.length; i += 255) blocks.push(Math.min(255, bytes.length - i), ...bytes.slice(i, i + 255));
  return [8, ...blocks, 0];
}

const word = (value) => [value & 255, value >> 8];

/** Pictures (ImageData) as a GIF that runs for ever, each shown for so many hundredths of a second. */
export function encodeGif(pictures, delays) {
  const { width, height } = pictures[0];
  const { table, frames } = indexed(pictures);
  const ascii = (text) => [...text].map((letter) => letter.charCodeAt(0));
  const parts = [Uint8Array.from([...ascii("GIF89a"), ...word(width), ...word(height), 0xf7, 0, 0, ...table, 0x21, 0xff, 11, ...ascii("NETSCAPE2.0"), 3, 1, 0, 0, 0])];
  frames.forEach((pixels, k) => {
    parts.push(Uint8Array.from([0x21, 0xf9, 4, 0, ...word(delays[k]), 0, 0, 0x2c, 0, 0, 0, 0, ...word(width), ...word(height), 0, ...compressed(pixels)]));
  });
  return new Blob([...parts, Uint8Array.of(0x3b)], { type: "image/gif" });
}
