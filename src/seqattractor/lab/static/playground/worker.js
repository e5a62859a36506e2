// The worker of the playground: it loads the core in WebAssembly and the library's data once, then answers the requests of the page one after the
// other, as a server would (`lab.js`); `client.js` is the other end.

import { Lab } from "./lab.js";
import { readData } from "./data.js";
import { Rejection } from "./sequences.js";

/** Fetch a file beside this one. */
async function file(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  if (!answer.ok) throw new Error(`${name} is missing (${answer.status})`);
  return answer;
}

const lab = (async () => {
  const [data, core] = await Promise.all([file("data.json").then((answer) => answer.json()), file("core.wasm").then((answer) => answer.arrayBuffer())]);
  return new Lab(readData(data), await WebAssembly.compile(core));
})();

onmessage = async ({ data: { id, path, body } }) => {
  try {
    const answer = await (await lab).answer(path, body);
    if (answer?.[Symbol.asyncIterator]) {
      for await (const event of answer) postMessage({ id, event });
      postMessage({ id, ended: true });
    } else postMessage({ id, status: 200, answer });
  } catch (error) {
    const known = error instanceof Rejection;
    if (!known) console.error(error);
    postMessage({ id, status: known ? error.status : 500, answer: { error: known ? error.message : `The playground made a mistake: ${error.message}` } });
  }
};
