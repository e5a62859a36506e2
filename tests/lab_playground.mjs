// Runs the worker's code of an page in Node: node lab_playground.mjs FOLDER < requests, where each line of JSON is a list of [path, body];
// writes a line with the answers, where a stream of events is a list of these, and a file is given in base64.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/playground/`);
const [{ Lab }, { readData }, { Rejection }] = await Promise.all(["lab.js", "data.js", "sequences.js"].map((name) => import(new URL(name, folder))));
const module = new WebAssembly.Module(readFileSync(new URL("core.wasm", folder)));
const data = readData(JSON.parse(readFileSync(new URL("data.json", folder))));

async function answered(lab, path, body) {
  try {
    const answer = await lab.answer(path, body);
    if (answer?.bytes) return { name: answer.name, bytes: Buffer.from(answer.bytes).toString("base64") };
    if (!answer?.[Symbol.asyncIterator]) return answer;
    const events = [];
    for await (const event of answer) events.push(event);
    return events;
  } catch (error) {
    if (!(error instanceof Rejection)) throw error;
    return { error: error.message, status: error.status };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const lab = new Lab(data, module), answers = [];
  for (const [path, body] of JSON.parse(line)) answers.push(await answered(lab, path, body));
  process.stdout.write(`${JSON.stringify(answers)}\n`);
}
