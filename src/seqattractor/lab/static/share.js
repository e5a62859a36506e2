// The card of what to take away: a link, files, and the Python code. The link holds all settings and how long was learned; files come from
// the server; the code is written by the server, too, and only while it is seen.

import * as api from "./api.js";
import { busyWith, ifLong } from "./busy.js";
import { attempt } from "./messages.js";
import { $ } from "./names.js";
import { posterOf } from "./poster.js";
import { cueSpec, hasResult, insideSpec, isLearned, isLoaded, learnSpec, linkEnd, settings } from "./state.js";

const touch = matchMedia("(pointer: coarse)"); // elsewhere the dialog of the system is more clicks, not fewer
const buttons = () => document.querySelectorAll("[data-download]");
let ticket = 0; // code for older settings is dropped
let codeKey = null; // the settings that the code does

/** Copy words; where the browser forbids it, show them. */
async function copy(words, note) {
  try {
    await navigator.clipboard.writeText(words);
    $("share-note").textContent = note;
  } catch {
    $("share-note").textContent = words;
  }
}

/** Copy a link that restores the settings, and the result: what was learned is learned again. */
async function copyLink() {
  const hash = linkEnd();
  if (hash === null) {
    $("share-note").textContent = "This sequence is too large for a link; send the sequence as a file instead.";
    return;
  }
  await copy(location.origin + location.pathname + hash, hasResult() ? "The link is copied; it restores all settings, learns and recalls." : "The link is copied; it restores all settings.");
}

/** Give a file away in one click: to the apps of this machine, for a picture to the clipboard, or as a download. */
async function give(blob, name) {
  const file = new File([blob], name, { type: blob.type });
  const about = "It is on its way.";
  try {
    if (touch.matches && navigator.canShare?.({ files: [file] })) {
      await navigator.share({ files: [file], title: "seqattractor" });
      return about;
    }
    if (blob.type === "image/png") {
      await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
      return "The picture is copied: paste it where you like.";
    }
  } catch (error) {
    if (error.name === "AbortError") return ""; // the visitor thought better of it
  }
  api.save(blob, name);
  return `${name} is downloaded.`;
}

/** Share the step that is shown. */
async function sharePicture({ stage, now }) {
  if (!stage.scene || stage.scene.preview) return;
  $("share-note").textContent = await attempt(() => busyWith(async () => give(await posterOf(stage, now), "recall.png"))) ?? "";
}

/** Fetch a file from the server, and share it if it is the GIF; others are no films to send to a friend. */
async function fetchFile(what) {
  const { blob, name } = await api.download({
    what, network: Number($("share-network").value), cue: cueSpec(), sequence: settings.sequence, ...insideSpec(),
    dark: Number(matchMedia("(prefers-color-scheme: dark)").matches),
  });
  if (what === "gif") $("share-note").textContent = await give(blob, name);
  else api.save(blob, name);
}

/** Offer what there is: the sequence at all times, the rest of so many networks that have learned. */
export function offerDownloads(networks) {
  for (const button of buttons()) button.disabled = !networks && button.dataset.download !== "sequence";
  $("share-picture").disabled = !networks;
  $("share-which").hidden = networks < 2;
  if (networks < 2) $("share-network").value = "0";
}

/** Write the code anew, if it is seen. */
export async function updateCode() {
  const mine = ++ticket;
  if (!$("code-box").open || !isLoaded()) {
    $("code").textContent = "";
    return;
  }
  const wanted = keyOfCode();
  const write = () => attempt(() => api.text("code", codeSpec()), () => mine === ticket);
  const code = await ifLong(write, () => { if (mine === ticket) $("code").textContent = ""; });
  if (mine !== ticket) return;
  $("code").textContent = code ?? "";
  codeKey = wanted;
}

const codeSpec = () => ({ ...learnSpec(), cue: cueSpec(), ...(isLearned() ? insideSpec() : {}) });
const keyOfCode = () => JSON.stringify(codeSpec());

/** What was copied is not what is on the page any more; nor is the code what it does, once nobody asks for a new one. */
export function forgetCopies(ask) {
  $("share-note").textContent = "";
  if (!ask && codeKey !== keyOfCode()) $("code").textContent = "";
}

/** Let the buttons work; `shown` gives the stage and the step that is shown. */
export function connectShare(shown) {
  $("share-link").onclick = copyLink;
  $("share-picture").onclick = () => sharePicture(shown());
  $("copy-code").onclick = () => copy($("code").textContent, "The code is copied.");
  $("code-box").ontoggle = updateCode;
  for (const button of buttons()) button.onclick = () => attempt(() => fetchFile(button.dataset.download));
}
