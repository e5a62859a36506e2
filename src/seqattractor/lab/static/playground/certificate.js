// How many flips each transition certainly withstands: the quick method ("count") of analysis/_certificate.py and _certificate_bound.py. All
// weights here are multiples of a power of two, so that sums are exact and no rounding has to be allowed for.

const MOST = 150_000_000; // weights * transitions: a few seconds

/** Whether a loss can change a state: an active neuron stays active at a field of exactly 0, a silent one does not stay silent. */
const exceeds = (loss, limit, active) => (active ? loss > limit : loss >= limit);

/** The fields (n, m) of a layer for states (n, width). */
function fieldsOf(layer, x, n) {
  const { m, width } = layer, fields = new Float64Array(n * m);
  for (let i = 0; i < m; i++) {
    const row = layer.row(i), offset = layer.offset(i);
    for (let t = 0; t < n; t++) {
      let sum = offset;
      for (let k = 0, p = t * width; k < width; k++) sum += row[k] * x[p + k];
      fields[t * m + i] = sum;
    }
  }
  return fields;
}

/** How many inputs may be flipped, whichever they are, with each neuron's state unchanged, (n, m). */
function flipRadius(layer, x, fields, n) {
  const { m, width } = layer, radius = new Int32Array(n * m);
  for (let i = 0; i < m; i++) {
    const row = layer.row(i), order = Uint32Array.from(row, (_, k) => k).sort((a, b) => Math.abs(row[b]) - Math.abs(row[a]) || a - b);
    for (let t = 0; t < n; t++) {
      const field = fields[t * m + i], active = field >= 0, limit = Math.abs(field) / 2;
      let flips = 0, sum = 0, found = exceeds(0, limit, active) ? -1 : width;
      for (let k = 0; k < width && found === width; k++) {
        const at = order[k], support = (active ? row[at] : -row[at]) * x[t * width + at];
        if (support <= 0) continue;
        sum += support;
        flips += 1;
        if (exceeds(sum, limit, active)) found = flips - 1;
      }
      radius[t * m + i] = found;
    }
  }
  return radius;
}

/** Which transitions the network makes, and the radius of these: the least of all visible neurons. */
function radii(net) {
  const { x, targets, n, N, layers } = net, next = net.nextPatterns(x, n), found = new Array(n).fill(-1);
  const right = (t) => targets.subarray(t * N, (t + 1) * N).every((value, i) => value === next[t * N + i]);
  const fields = fieldsOf(layers[0], x, n), radius = flipRadius(layers[0], x, fields, n), { m } = layers[0];
  for (let t = 0; t < n; t++) {
    if (!right(t)) continue;
    const own = radius.subarray(t * m, (t + 1) * m);
    found[t] = layers.length === 1 ? own.reduce((a, b) => Math.min(a, b), net.inputs) : counted(net, t, fields.subarray(t * m, (t + 1) * m), own);
  }
  return found;
}

/** The largest r for which all hidden neurons that r flips could change do no harm together. */
function counted(net, t, fields, radius) {
  const [hidden, visible] = net.layers, { targets, N } = net, { m, low } = hidden;
  const change = Float64Array.from(fields, (field) => low + 1 - 2 * (field >= 0 ? 1 : low));
  const limits = new Float64Array(N), total = new Float64Array(N);
  const target = targets.subarray(t * N, (t + 1) * N);
  for (let j = 0; j < N; j++) {
    const row = visible.row(j);
    let field = visible.offset(j);
    for (let i = 0; i < m; i++) field += row[i] * (fields[i] >= 0 ? 1 : low);
    limits[j] = target[j] * field;
  }
  const levels = [...new Set(radius)].sort((a, b) => a - b);
  for (const level of levels) {
    for (let j = 0; j < N; j++) {
      const row = visible.row(j), sign = target[j] > 0 ? -1 : 1;
      for (let i = 0; i < m; i++) if (radius[i] === level) total[j] += Math.max(0, sign * row[i] * change[i]);
    }
    if (total.some((loss, j) => exceeds(loss, limits[j], target[j] > 0))) return Math.max(level, -1);
  }
  return net.inputs;
}

/** For each row of the patterns the number of flips after which the next pattern is certainly right: -1 where it has no successor, or a wrong one. */
export function certifiedRadii(net, data, closed) {
  if ((closed.x.length / closed.N) * net.size > MOST) return null;
  const found = radii(net), all = new Array(data.x.length / data.N).fill(-1);
  let at = 0, first = 0;
  data.lengths.forEach((length, s) => {
    const round = data.loops[s] ? length - (data.closed || 1) : length;
    for (let k = 0; k < closed.lengths[s] - net.order; k++) all[first + ((net.order - 1 + k) % round)] = found[at++];
    first += length;
  });
  return all;
}
