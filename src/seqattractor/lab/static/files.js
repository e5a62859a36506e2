// The visitor's own files: large pictures are shrunk before they are sent, and how files are read is the visitor's choice. The server reads
// them (lab/uploads.py); here are only the choices beside the drop zone and what is done before anything is sent.

import { debounced } from "./busy.js";
import { $ } from "./names.js";

const SIDE = 256; // of a picture that is sent; the server shrinks it further
const LARGE = 200_000; // bytes, above which a picture is shrunk first
const MOVES = { "image/webp": "ANIM", "image/png": "acTL", "image/apng": "acTL", "image/avif": "avis" }; // marks of animations

/** Whether a file is one still picture, which a browser may draw anew without losing frames. */
async function isStill(file) {
  if (!file.type.startsWith("image/") || ["image/gif", "image/tiff"].includes(file.type)) return false;
  const mark = MOVES[file.type];
  return !mark || !new TextDecoder("latin1").decode(await file.slice(0, 65536).arrayBuffer()).includes(mark);
}

/** A picture with sides of up to `SIDE`, as it is to be held; the file itself where the browser cannot read it. */
async function shrunk(file) {
  let picture;
  try {
    picture = await createImageBitmap(file, { imageOrientation: "from-image" });
  } catch {
    return file;
  }
  const scale = Math.min(1, SIDE / Math.max(picture.width, picture.height));
  const [width, height] = [picture.width, picture.height].map((side) => Math.max(1, Math.round(side * scale)));
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d");
  context.imageSmoothingQuality = "high";
  context.fillStyle = "#fff"; // under what is transparent
  context.fillRect(0, 0, width, height);
  context.drawImage(picture, 0, 0, width, height);
  picture.close();
  return new File([await canvas.convertToBlob({ type: "image/png" })], `${file.name.replace(/\.\w+$/, "")}.png`, { type: "image/png" });
}

/** Files as they are to be sent; `say` is told how far it is. */
export async function prepared(files, say) {
  const ready = [];
  for (const file of files) {
    if (file.size <= LARGE || !(await isStill(file))) {
      ready.push(file);
      continue;
    }
    say(`Shrinking ${files.length > 1 ? `picture ${ready.length + 1} of ${files.length}` : "the picture"} …`);
    ready.push(await shrunk(file));
  }
  return ready;
}

/** How files are to be read, as the server takes it. */
export function howToRead() {
  const [levels, colour] = $("shades").value.split(",").map(Number);
  const cut = $("cut").value;
  const value = cut === "grey" ? Number($("cut-grey").value) : cut === "value" ? Number($("cut-value").value) : cut;
  const [stride, bin, key] = ["read-stride", "read-bin", "read-key"].map((id) => $(id).value.trim());
  return {
    levels, colour,
    ...(cut && !levels ? { threshold: value } : {}),
    ...(Number(stride) > 1 ? { stride: Number(stride) } : {}),
    ...(bin ? { bin: Number(bin) } : {}),
    ...(key ? { key } : {}),
  };
}

function showChoices() {
  $("cut").disabled = $("shades").value !== "0,0";
  $("cut-grey").parentElement.hidden = $("cut").disabled || $("cut").value !== "grey";
  $("cut-value").hidden = $("cut").disabled || $("cut").value !== "value";
  $("cut-says").value = $("cut-grey").value;
  $("cut-grey").setAttribute("aria-valuetext", `${$("cut-grey").value} of 255`);
}

/** Read files anew whenever a choice changes. */
export function connectFiles(again) {
  const soon = debounced(again, 200);
  for (const id of ["shades", "cut", "cut-value", "read-stride", "read-bin", "read-key"]) $(id).onchange = () => { showChoices(); soon(); };
  $("cut-grey").oninput = () => { showChoices(); soon(); };
  showChoices();
}
