// Whether the page is still at work: actions that wait for the visitor to pause, and questions that the server has not answered.
// The recall says so with aria-busy, so that it is read out once, when it is complete.

let under = 0;

function tell() {
  document.getElementById("recall").setAttribute("aria-busy", String(under > 0));
}

/** Say that something is under way; call what is returned once it has ended. */
export function begin() {
  under += 1;
  tell();
  let ended = false;
  return () => {
    if (ended) return;
    ended = true;
    under -= 1;
    tell();
  };
}

/** Do something that takes a while. */
export async function busyWith(action) {
  const end = begin();
  try {
    return await action();
  } finally {
    end();
  }
}

/** Wait for an action, and do something about what is old where it takes so long that one would see it. */
export async function ifLong(action, about, pause = 300) {
  const timer = setTimeout(about, pause);
  try {
    return await action();
  } finally {
    clearTimeout(timer);
  }
}

/** Do something once nothing has asked for it for a moment. */
export function debounced(action, pause) {
  let timer = null;
  let end = null;
  return (...args) => {
    clearTimeout(timer);
    const done = (end ??= begin());
    timer = setTimeout(async () => {
      end = null;
      try {
        await action(...args);
      } finally {
        done();
      }
    }, pause);
  };
}
