// Talking to the server: JSON requests, files and the stream of progress. Each open page is a visit of its own. A page that was exported
// (`seqattractor lab --export`) has no server: a worker answers the same requests (playground/).

import { begin, busyWith } from "./busy.js";

let visit = null;

/** Whether a worker answers in a server's place. */
export const isPlayground = document.querySelector("meta[name=playground]") !== null;
const ask = isPlayground ? async (...given) => (await import("./playground/client.js")).ask(...given) : (...given) => fetch(...given);

/** An answer that is not what was asked for, with the server's sentence. */
export class LabError extends Error {
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

/** What to say where nobody answers. */
export const GONE = isPlayground ? "The playground has stopped, or a part of it is missing; reload this page." : "The lab does not answer: it was closed, or the connection is lost. Start it again in the terminal (seqattractor lab), then reload this page.";

let forgotten = () => {};

/** Say what is to be done when the server has forgotten this visit, and what it had learned. */
export const onForgotten = (action) => { forgotten = action; };

let sentAway = 0; // requests that wait to be sent again
let sayBusy = () => {};

/** Say what is to be done when the lab is too busy to answer, called with true, and when it answers again, with false. */
export const onBusy = (action) => { sayBusy = action; };

function waiting(more) {
  const before = sentAway > 0;
  sentAway += more;
  if (before !== sentAway > 0) sayBusy(sentAway > 0);
}

/** Wait for a part of an answer, which may break off. */
async function arriving(part) {
  try {
    return await part;
  } catch {
    throw new LabError(0, GONE);
  }
}

const TRIES = 60; // of a request that a busy lab sends away: minutes, as long as somebody would look at the page

/** Ask once, and again while the lab is too busy to answer and says after how many seconds it may not be. */
async function untilServed(path, options) {
  let busy = false;
  try {
    for (let left = TRIES; ; left--) {
      const answer = await ask(`api/${path}`, { ...options, headers: { ...options.headers, ...(visit ? { "x-lab-visit": visit } : {}) } });
      const pause = Number(answer.headers.get("retry-after"));
      if (answer.status !== 503 || !pause || !left) return answer;
      if (!busy) waiting(1);
      busy = true;
      await new Promise((end) => { setTimeout(end, 1000 * pause * (0.5 + Math.random())); }); // not all pages at the same moment
    }
  } finally {
    if (busy) waiting(-1);
  }
}

async function request(path, options = {}) {
  let answer;
  try {
    answer = await untilServed(path, options);
  } catch {
    throw new LabError(0, GONE);
  }
  if (answer.ok) return answer;
  let sentence = `The lab answered with an error (${answer.status}).`;
  try {
    sentence = (await answer.json()).error ?? sentence;
  } catch { /* keep the plain sentence */ }
  throw new LabError(answer.status, sentence);
}

async function openVisit() {
  visit = (await (await request("visit", { method: "POST" })).json()).visit;
}

/** Send a request that belongs to this visit; a visit that the server has forgotten is opened again. */
async function inVisit(path, options) {
  if (!visit) await openVisit();
  try {
    return await request(path, options);
  } catch (error) {
    if (error.status !== 410) throw error;
    visit = null;
    forgotten();
    await openVisit();
    return request(path, options);
  }
}

const asJson = (body) => ({ method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });

export const catalogue = () => busyWith(async () => arriving((await request("catalogue")).json()));
export const post = (path, body) => busyWith(async () => arriving((await inVisit(path, asJson(body))).json()));
/** The same for what the page can do without: it is not busy meanwhile. */
export const quietly = async (path, body) => arriving((await inVisit(path, asJson(body))).json());
export const text = (path, body) => busyWith(async () => arriving((await inVisit(path, asJson(body))).text()));

/** Ask for a file, { blob, name }. */
export const download = (body) => busyWith(async () => {
  const answer = await inVisit("download", asJson(body));
  const name = /filename="([^"]+)"/.exec(answer.headers.get("content-disposition") ?? "")?.[1] ?? "file";
  return { blob: await arriving(answer.blob()), name };
});

/** Give a file to the visitor as a download. */
export function save(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Send files: a line with their names and sizes and in how many shades they are to be seen, then their bytes. */
export const upload = (files, shades) => busyWith(async () => {
  const head = JSON.stringify({ files: files.map((f) => ({ name: f.name, size: f.size })), ...shades });
  return arriving((await inVisit("upload", { method: "POST", body: new Blob([head, "\n", ...files]) })).json());
});

/** Go through the events of learning until it ends. */
export async function* progress() {
  const end = begin();
  try {
    const reader = (await inVisit("progress", {})).body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await arriving(reader.read());
      if (done) return;
      const events = (rest + value).split("\n\n");
      rest = events.pop();
      for (const event of events) if (event.startsWith("data: ")) yield JSON.parse(event.slice(6));
    }
  } finally {
    end();
  }
}

addEventListener("pagehide", (event) => {
  if (visit && !event.persisted) ask("api/leave", { method: "POST", keepalive: true, headers: { "x-lab-visit": visit } });
});
