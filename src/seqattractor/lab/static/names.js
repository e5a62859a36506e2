// Short names: of the elements of the page, and of the networks on it. Every module may use them; nothing here depends on another module.
// The page module of the playground uses them, too.

/** An element of the page. */
export const $ = (id) => document.getElementById(id);

/** The letter of network `k`, with what stands around it; nothing where there is only one. */
export const letter = (k, count, before, after) => (count > 1 ? before + "AB"[k] + after : "");
