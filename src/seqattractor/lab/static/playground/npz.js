// A sequence as an npz file, as `np.savez` writes it: a zip archive of arrays, not compressed. The Python that does the same reads drawn frames and
// those of links from it.

import { crc32 } from "./random.js";

/** An array as an npy file. */
function npy(descr, shape, bytes) {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape.join(", ")}${shape.length === 1 ? "," : ""}), }`;
  const padded = `${text.padEnd(Math.ceil((text.length + 11) / 64) * 64 - 11)}\n`; // so that numbers begin at a multiple of 64
  const head = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, padded.length & 255, padded.length >> 8);
  return joined([head, new TextEncoder().encode(padded), bytes]);
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Numbers of some bytes each, the low one first. */
const numbers = (...pairs) => Uint8Array.from(pairs.flatMap(([value, bytes]) => Array.from({ length: bytes }, (_, k) => Math.floor(value / 256 ** k) & 255)));

/** A zip archive of files {name: bytes}. */
function zip(files) {
  const locals = [], central = [];
  let at = 0;
  for (const [name, bytes] of Object.entries(files)) {
    const title = new TextEncoder().encode(name);
    const common = numbers([20, 2], [0, 2], [0, 2], [0, 2], [0x21, 2], [crc32(bytes), 4], [bytes.length, 4], [bytes.length, 4], [title.length, 2], [0, 2]);
    const local = joined([numbers([0x04034b50, 4]), common, title, bytes]);
    central.push(joined([numbers([0x02014b50, 4], [20, 2]), common, numbers([0, 2], [0, 2], [0, 2], [0, 4], [at, 4]), title]));
    locals.push(local);
    at += local.length;
  }
  const index = joined(central);
  return joined([...locals, index, numbers([0x06054b50, 4], [0, 2], [0, 2], [central.length, 2], [central.length, 2], [index.length, 4], [at, 4], [0, 2])]);
}

const whole = (values) => numbers(...values.map((value) => [value, 8]));

/** The patterns X (T, N), their lengths, and the shape of a frame. */
export function sequenceFile({ x, N, lengths, frameShape }) {
  return zip({
    "X.npy": npy("|i1", [x.length / N, N], new Uint8Array(x.buffer, x.byteOffset, x.length)),
    "lengths.npy": npy("<i8", [lengths.length], whole(lengths)),
    "frame_shape.npy": npy("<i8", [frameShape.length], whole(frameShape)),
  });
}
