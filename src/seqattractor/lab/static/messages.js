// Sentences for the visitor. There is one place for them, at the top of the page; what an error says comes from the server, and a mistake
// of the page itself is said in words, too. `attempt` runs something that may fail so.

import { LabError } from "./api.js";
import { $ } from "./names.js";

/** Tell the visitor what went wrong; an empty sentence takes the message away. */
export function complain(sentence) {
  const words = $("alert").querySelector("span");
  if (words.textContent === sentence) return; // said already
  words.textContent = sentence;
  $("alert").hidden = !sentence;
  if (sentence) $("alert").scrollIntoView({ block: "nearest" });
}

/** What to tell the visitor of an error. */
export function sentenceOf(error) {
  if (error instanceof LabError) return error.message;
  console.error(error);
  return `Something went wrong on the page: ${error.message}`;
}

/** Run something that may fail with a sentence for the visitor, which is left unsaid where the outcome is not wanted any more. */
export async function attempt(action, wanted = () => true) {
  try {
    return await action();
  } catch (error) {
    const sentence = sentenceOf(error);
    if (wanted()) complain(sentence);
    return null;
  }
}
