// What `seqattractor lab --export` writes for the playground (lab/export.py): the catalogue, sequences of the library, and the tables of numpy's
// normal sampler, which travel as float64 in base64.

/** The data as the lab takes them. */
export function readData(data) {
  const table = (text) => new Float64Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const normal = Object.fromEntries(Object.entries(data.normal).map(([name, text]) => [name, table(text)]));
  return { ...data, normal };
}
