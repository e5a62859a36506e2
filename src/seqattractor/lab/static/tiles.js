// The tiles from which a sequence is picked. There is one for each sequence of the catalogue, then the drawing and the visitor's own file;
// their pictures are asked for last, when the page is ready.

import * as api from "./api.js";
import { unpack } from "./bits.js";
import { drawThumbnail } from "./canvas.js";
import { $ } from "./names.js";

/** Build the tiles; `choose` is called with the name of the one that is picked. */
export function buildTiles(catalogue, choose) {
  const own = [{ name: "draw", label: "Draw", hint: "Draw the frames yourself." }, { name: "file", label: "Your file", hint: "" }];
  const tiles = [...catalogue.sequences, ...own].map((entry) => {
    const tile = document.createElement("button");
    tile.type = "button";
    tile.className = "tile";
    tile.setAttribute("role", "radio");
    tile.dataset.source = entry.name;
    tile.title = entry.hint;
    const picture = document.createElement("canvas");
    picture.width = picture.height = 44;
    tile.append(picture, entry.label);
    tile.onclick = () => choose(entry.name);
    return tile;
  });
  $("tiles").replaceChildren(...tiles);
  $("tiles").onkeydown = (event) => {
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!move) return;
    event.preventDefault();
    const next = tiles[(tiles.indexOf(document.activeElement) + move + tiles.length) % tiles.length];
    next.focus();
    next.click();
  };
  drawIcon(tiles.at(-2).firstChild, "✎");
  drawIcon(tiles.at(-1).firstChild, "⤓");
}

function drawIcon(canvas, sign) {
  const context = canvas.getContext("2d");
  context.font = "24px system-ui, sans-serif";
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--soft");
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.clearRect(0, 0, 44, 44);
  context.fillText(sign, 22, 23);
}

/** Draw the pictures on the tiles, one after the other. */
export async function drawTiles(catalogue) {
  for (const entry of catalogue.sequences) {
    const tile = document.querySelector(`[data-source=${entry.name}] canvas`);
    const sequence = await api.post("sequence", { name: entry.name });
    drawThumbnail(tile, sequence, unpack(sequence.bits, sequence.frames * sequence.units));
  }
}

/** Show which tile is chosen, and the parts of the card that belong to it; `drawn` tells whether the visitor's own frames are there. */
export function markTile(catalogue, source, drawn) {
  for (const tile of $("tiles").children) {
    const chosen = tile.dataset.source === source;
    tile.setAttribute("aria-checked", String(chosen));
    tile.tabIndex = chosen ? 0 : -1;
    if (chosen) show(tile);
  }
  $("drawing").hidden = source !== "draw";
  $("upload").hidden = source !== "file";
  const own = {
    draw: "Draw the frames yourself; › adds one.",
    file: drawn ? "Your own frames; a file takes their place." : "Until a file is read, the previous sequence stays.",
  };
  $("sequence-hint").textContent = own[source] ?? sentence(catalogue.sequences.find((s) => s.name === source).hint);
}

/** Move the row of tiles, where it is wider than the screen, so that one is seen. */
function show(tile) {
  const [row, box] = [$("tiles").getBoundingClientRect(), tile.getBoundingClientRect()];
  $("tiles").scrollLeft += box.left + box.width / 2 - row.left - row.width / 2;
}

const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1) + ".";
