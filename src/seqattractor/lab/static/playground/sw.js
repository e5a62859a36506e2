// The service worker of the playground: it keeps all files of the page, so that it opens without a connection once it was loaded. The export
// writes VERSION, a digest of all files, and FILES above these lines; a new version takes the place of an old one when the page is loaded again.

const CACHE = `seqattractor-lab ${registration.scope}`;

self.oninstall = (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(`${CACHE} ${VERSION}`);
    await cache.addAll(FILES.map((name) => new Request(name, { cache: "reload" })));
    await skipWaiting();
  })());
};

self.onactivate = (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name.startsWith(`${CACHE} `) && !name.endsWith(` ${VERSION}`)) await caches.delete(name);
    await clients.claim();
  })());
};

self.onfetch = (event) => {
  if (event.request.method !== "GET" || !event.request.url.startsWith(registration.scope)) return;
  event.respondWith((async () => {
    const cache = await caches.open(`${CACHE} ${VERSION}`);
    return (await cache.match(event.request, { ignoreSearch: true })) ?? fetch(event.request);
  })());
};
