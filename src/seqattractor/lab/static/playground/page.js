// What is different on a page without a server: what only the lab itself can do gives way to a sentence that says so, and the page is kept for times
// without a connection.

import { $ } from "../names.js";

function hint(...parts) {
  const words = document.createElement("p");
  words.className = "hint";
  words.append(...parts);
  return words;
}

function code(text) {
  const words = document.createElement("code");
  words.textContent = text;
  return words;
}

/** Adapt the page. */
export function adapt() {
  const absent = document.querySelectorAll("[data-download]:not([data-download=sequence]), #share-which, #upload > *");
  for (const element of absent) element.classList.add("absent");
  const own = () => [code("pip install 'seqattractor[lab]'"), ", then ", code("seqattractor lab"), "."];
  $("share-note").before(hint("All other files come from the lab on your own machine: ", ...own()));
  $("upload").append(hint("Files are read by the lab on your own machine: ", ...own(), " Its links open here, frames and all."));
  // Not in private windows of some browsers, nor on addresses without TLS: then the page needs its connection.
  navigator.serviceWorker?.register(new URL("../sw.js", import.meta.url)).catch(() => {});
}
