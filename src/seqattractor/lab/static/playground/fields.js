// Checks of what a page asks for, with the sentences of lab/requests.py: settings come out of links, which anybody may have written. A value of a
// wrong type or range is rejected before anything is made of it.

import { unpack } from "../bits.js";
import { Rejection } from "./sequences.js";

/** An object whose values are taken out one by one. */
export class Fields {
  constructor(data, name) {
    if (typeof data !== "object" || data === null || Array.isArray(data)) throw new Rejection(400, `The ${name} must be a JSON object.`);
    Object.assign(this, { data, name });
  }

  only(...names) {
    for (const name of Object.keys(this.data)) {
      if (!names.includes(name)) throw new Rejection(400, `The ${this.name} has no field '${name.slice(0, 40)}'; it has ${names.join(", ") || "none"}.`);
    }
  }

  whole(name, value, low, high) {
    const found = this.data[name] ?? value;
    if (!Number.isInteger(found)) throw new Rejection(400, `${name} must be a whole number, but it is ${shown(found)}.`);
    return this.number(name, value, low, high);
  }

  number(name, value, low, high) {
    const found = this.data[name] ?? value;
    if (typeof found !== "number" || !Number.isFinite(found)) throw new Rejection(400, `${name} must be a number, but it is ${shown(found)}.`);
    if (found < low || found > high) throw new Rejection(400, `${name} must lie between ${low} and ${high}, but it is ${shown(found)}.`);
    return found;
  }

  choice(name, value, choices) {
    const found = this.data[name] ?? value;
    if (!choices.includes(found)) throw new Rejection(400, `${name} must be one of ${choices.join(", ")}, but it is ${shown(found)}.`);
    return found;
  }

  wholes(name, low, high, most) {
    const found = this.data[name] ?? [];
    if (!Array.isArray(found) || found.length > most) throw new Rejection(400, `${name} must be a list of at most ${most} whole numbers.`);
    for (const item of found) {
      if (!Number.isInteger(item) || item < low || item > high) throw new Rejection(400, `${name} must hold whole numbers from ${low} to ${high}, but it has ${shown(item)}.`);
    }
    return found;
  }

  object(name) {
    return new Fields(this.data[name] ?? {}, name);
  }

  objects(name, least, most) {
    const found = this.data[name];
    if (!Array.isArray(found) || found.length < least || found.length > most) throw new Rejection(400, `${name} must be a list of ${least} to ${most} objects.`);
    return found.map((item, k) => new Fields(item, `${name}[${k}]`));
  }

  /** Patterns in bits. */
  bits(name, count) {
    let found = null;
    try {
      found = unpack(this.data[name] ?? "", count);
    } catch { /* said below */ }
    const bytes = Math.ceil(count / 8);
    if (!found || atob(this.data[name]).length !== bytes) throw new Rejection(400, `The bits must be ${bytes} bytes in base64.`);
    return Int8Array.from(found, (bit) => (bit ? 1 : -1));
  }

  has(name) {
    return (this.data[name] ?? null) !== null;
  }
}

const shown = (value) => {
  const words = JSON.stringify(value) ?? "missing";
  return words.length <= 60 ? words : `${words.slice(0, 57)}...`;
};
