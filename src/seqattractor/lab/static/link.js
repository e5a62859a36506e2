// A link that carries all settings, in the part of the address that is never sent to a server. Settings are JSON in base64 for addresses,
// behind a version; `main.js` decides what of a link is taken over. Nothing here knows of the page.

const MOST = 30000; // characters; longer addresses do not survive being copied around

/** Settings as the end of a link, or null where they are too long for one. */
export function encode(settings) {
  const bytes = new TextEncoder().encode(JSON.stringify(settings));
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  const link = `#v1.${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
  return link.length <= MOST ? link : null;
}

/** Settings of a link; null where there are none, and an error where they are damaged. */
export function decode(hash) {
  if (!hash || hash === "#") return null;
  if (!hash.startsWith("#v1.")) throw new Error("unknown link");
  const text = atob(hash.slice(4).replaceAll("-", "+").replaceAll("_", "/"));
  const settings = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  if (typeof settings?.sequence?.name !== "string" || !Array.isArray(settings.networks) || typeof settings.cue !== "object") {
    throw new Error("incomplete link");
  }
  return settings;
}
