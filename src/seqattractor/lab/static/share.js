// Copying a link or code.

import { encode } from "./link.js";

const $ = (id) => document.getElementById(id);

/** Copy words; where the browser forbids it, show them. */
export async function copy(words, note) {
  try {
    await navigator.clipboard.writeText(words);
    $("share-note").textContent = note;
  } catch {
    $("share-note").textContent = words;
  }
}

/** Copy a link that restores the settings. */
export async function copyLink(settings) {
  const hash = encode(settings);
  if (hash === null) {
    $("share-note").textContent = "This sequence is too large for a link; send the sequence as a file instead.";
    return;
  }
  await copy(location.origin + location.pathname + hash, "The link is copied; it restores all settings.");
}
