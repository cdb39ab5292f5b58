// Quiet sounds, made here: a wooden knock for a move, two tones for the end. They can be switched off.

let context = null;

export function soundOn() {
  return localStorage.getItem("sound") !== "off";
}

export function setSound(on) {
  localStorage.setItem("sound", on ? "on" : "off");
}

/** `kind` is "move", "take" or "end". */
export function sound(kind) {
  // A page may make sounds only after somebody has touched it.
  if (!soundOn() || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  if (kind === "end") {
    tone(523, 0, 0.16);
    tone(784, 0.13, 0.22);
  } else knock(kind === "take" ? 260 : 420);
}

function tone(frequency, after, seconds) {
  const start = context.currentTime + after;
  const wave = new OscillatorNode(context, { frequency, type: "sine" });
  fading(wave, start, seconds, 0.05);
  wave.start(start);
  wave.stop(start + seconds);
}

function knock(frequency) {
  const start = context.currentTime;
  const wave = new OscillatorNode(context, { frequency, type: "triangle" });
  wave.frequency.exponentialRampToValueAtTime(frequency / 3, start + 0.06);
  fading(wave, start, 0.07, 0.1);
  wave.start(start);
  wave.stop(start + 0.08);
}

function fading(source, start, seconds, loud) {
  const gain = new GainNode(context, { gain: 0 });
  gain.gain.setValueAtTime(loud, start);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + seconds);
  source.connect(gain).connect(context.destination);
}
