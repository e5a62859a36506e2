// Short names: of the elements of the page, and of the networks on it.

/** An element of the page. */
export const $ = (id) => document.getElementById(id);

/** The letter of network `k`, with what stands around it; nothing where there is only one. */
export const letter = (k, count, before, after) => (count > 1 ? before + "AB"[k] + after : "");
