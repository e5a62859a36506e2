// The C core in WebAssembly: memory for one network, and calls of its kernels. Each network has an instance of the module of its own, whose
// memory only grows and goes with it. Arguments come in the order in which engine/kernels.py declares them, which `ORDER` repeats and a test
// compares: first the lengths of axes, then values, arrays, and work space.

const LINE = 64; // bytes of a cache line
const TYPES = {
  int8: Int8Array, uint8: Uint8Array, bool: Uint8Array, int16: Int16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array, float64: Float64Array,
};

const listed = (kernels) => Object.fromEntries(Object.entries(kernels).map(([name, lines]) => [name, lines.join(" ")]));

/** The arguments of each kernel that is called here. */
export const ORDER = listed({
  add_start_fields: ["m n inputs words fields weights bits first N up down up_starts down_starts space"],
  look_ahead: ["n padded K ahead"],
  set_bounds: ["m padded n bounds z h0 kappa limit"],
  learn_rows: [
    "n padded some m words epochs capacity K ahead rows z h0 fields bounds room counts wrong errors state flips step limit with_codes",
    "space columns turned numbers added wrong_space row_errors",
  ],
  sort_flips: ["number epochs n flips flipped groups place group_start"],
  play: ["n padded M words number epochs K codes bits flipped groups version group_start K_versions ahead_versions bit_versions"],
  replay_rows: [
    "n padded words epochs number some m M width K ahead Y version flipped groups group_start rows x V g0 fields bounds room C",
    "errors state step limit kappa space c learned reals flip_columns row_errors",
  ],
  practise_V: ["N M n V targets active starts done wrong margin step"],
  sparse_learn: ["redraws task rule normals first last chance chance_V"],
});

/** The members of the structs that `sparse_learn` takes; real numbers end with a dot. */
export const STRUCTS = listed({
  task: [
    "n n_in N M noise learned feedback_row counted obeying inputs targets input_bits target_bits gram drive flipped n_flipped lowest highest",
    "theta wrong redrawn z P Pt totals inverse U counts Vt fields feedback low high low_V high_V spacing spacing_V left. left_V. mu nu",
    "Ut h q noisy overlap ahead sums g score projected highest_scores best active plus minus wrong_bits x",
  ],
  rule: [
    "n_winners winners bias active_weight visible_margin learned_feedback. redraw.",
    "hidden_step visible_step choosing drive_step homeostasis. redraw_above.",
  ],
});

const REAL = ["kappa", "chance", "chance_V"]; // arguments that are numbers of JavaScript: real ones, and addresses that nobody uses

/** An array in the memory of a core; `view` is it as it is now, and does not outlast the next allocation. */
class Held {
  constructor(core, type, length, at) {
    Object.assign(this, { core, type, length, at });
  }

  get view() {
    return new TYPES[this.type](this.core.memory.buffer, this.at, this.length);
  }
}

export class Core {
  constructor(module) {
    const { exports } = new WebAssembly.Instance(module, {});
    exports._initialize?.();
    this.exports = exports;
    this.memory = exports.memory;
    this.end = this.highest = exports.__heap_base.value;
  }

  /** Do something with memory that is free again afterwards. */
  aside(action) {
    const { end } = this;
    try {
      return action();
    } finally {
      this.end = end;
    }
  }

  /** Memory for so many numbers, with zeros. */
  zeros(type, length) {
    const at = Math.ceil(this.end / LINE) * LINE;
    this.end = at + length * TYPES[type].BYTES_PER_ELEMENT + LINE;
    const missing = this.end - this.memory.buffer.byteLength;
    if (missing > 0) {
      try {
        this.memory.grow(Math.ceil(missing / 65536));
      } catch {
        throw new RangeError("There is not enough memory for this network; make it smaller.");
      }
    }
    const held = new Held(this, type, length, at);
    if (at < this.highest) held.view.fill(type.endsWith("int64") ? 0n : 0); // it was in use before
    this.highest = Math.max(this.highest, this.end);
    return held;
  }

  /** A copy of some numbers. */
  copy(type, numbers) {
    const held = this.zeros(type, numbers.length);
    if (type.endsWith("int64")) held.view.set(Array.from(numbers, BigInt));
    else held.view.set(numbers);
    return held;
  }

  /** A struct of the values of these names. */
  struct(kind, values) {
    const members = STRUCTS[kind].split(" ");
    const made = this.zeros("uint8", 8 * members.length);
    const data = new DataView(this.memory.buffer, made.at, made.length);
    let at = 0;
    for (const member of members) {
      const name = member.replace(".", ""), value = values[name];
      if (value === undefined) throw new Error(`${kind} has no ${name}`);
      if (value instanceof Held) {
        data.setUint32(at, value.at, true);
        at += 4;
        continue;
      }
      at = Math.ceil(at / 8) * 8;
      if (member.endsWith(".")) data.setFloat64(at, value, true);
      else data.setBigInt64(at, BigInt(value), true);
      at += 8;
    }
    return made;
  }

  /** Call a kernel, compiled for some types of numbers if `types` names them. */
  call(kernel, values, types = "") {
    const given = ORDER[kernel].split(" ").map((name) => {
      const value = values[name];
      if (value === undefined) throw new Error(`${kernel} has no ${name}`);
      return value instanceof Held ? value.at : REAL.includes(name) ? value : BigInt(value);
    });
    return Number(this.exports[`${kernel}${types}_base`](...given));
  }
}
