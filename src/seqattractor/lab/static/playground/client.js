// The page's end of the playground: `ask` is used like fetch, and what it asks for comes from a worker (`worker.js`) instead of a server.
// Answers are responses with a status, JSON or a stream, so that `api.js` need not know the difference.

let worker = null;
let count = 0;
const asked = new Map(); // what is done with the messages of each request

function start() {
  worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data: { id, ...message } }) => asked.get(id)?.(message);
  worker.onerror = () => { // such as a file that is missing: nothing will be answered
    worker = null; // the next request tries again
    for (const tell of asked.values()) tell({ failed: true });
  };
}

/** A response as a server would give it. */
function response(status, answer) {
  if (answer?.bytes) return new Response(answer.bytes, { headers: { "content-disposition": `attachment; filename="${answer.name}"` } });
  return new Response(typeof answer === "string" ? answer : JSON.stringify(answer), { status });
}

/** Answer a request to an address of the API. */
export function ask(address, { body } = {}) {
  if (body instanceof Blob) return response(404, { error: "The playground reads no files; draw the frames, or open the lab on your own machine." });
  if (!worker) start();
  const id = ++count, path = address.replace("api/", "");
  return new Promise((resolve, reject) => {
    let stream = null;
    asked.set(id, ({ status, answer, event, ended, failed }) => {
      if (event || ended) {
        if (!stream) resolve(new Response(new ReadableStream({ start: (controller) => { stream = controller; } })));
        if (event) stream.enqueue(new TextEncoder().encode(`data: ${JSON.stringify(event)}\n\n`));
        else stream.close();
      }
      if (!event) asked.delete(id);
      if (failed) stream ? stream.error() : reject(new TypeError("the worker failed"));
      else if (status) resolve(response(status, answer));
    });
    worker.postMessage({ id, path, body: body ? JSON.parse(body) : null });
  });
}
