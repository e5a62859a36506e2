// A tune can be heard: each unit that is on is a note. Where the sequence is music, the player calls it for every step that is shown; the
// browser allows it only after a click on the button.

let context = null;

/** Switch sound on (from a click, as browsers want it) or off. */
export function setSound(on) {
  if (on) {
    context ??= new AudioContext();
    context.resume();
  } else context?.suspend();
}

/** Play the notes of one step; notes that sounded in the step before are held softly. */
export function playStep(pitches, bits, at, before, seconds) {
  if (context?.state !== "running") return;
  pitches.forEach((pitch, k) => {
    if (!bits[at + k]) return;
    const fresh = before === null || !bits[before + k];
    const now = context.currentTime;
    const volume = context.createGain();
    volume.gain.setValueAtTime(0, now);
    volume.gain.linearRampToValueAtTime(fresh ? 0.11 : 0.03, now + 0.01);
    volume.gain.exponentialRampToValueAtTime(0.001, now + Math.max(0.15, seconds * 1.6));
    const tone = context.createOscillator();
    tone.type = "triangle";
    tone.frequency.value = 440 * 2 ** ((pitch - 69) / 12);
    tone.connect(volume).connect(context.destination);
    tone.start(now);
    tone.stop(now + Math.max(0.2, seconds * 1.7));
  });
}
