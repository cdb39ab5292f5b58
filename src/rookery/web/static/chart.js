// A line over time, drawn as SVG.

import { h, s, short } from "./dom.js";

const WIDTH = 640;
const HEIGHT = 300;
const LEFT = 64;
const BOTTOM = 40;

/** Round numbers between two ends. */
function ticks(low, high, count) {
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(value);
  return found;
}

function compact(value) {
  return Math.abs(value) >= 10000 ? Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 }).format(value) : short(Number(value.toPrecision(6)));
}

export function chart(points, xName, yName) {
  const range = (values) => {
    const low = Math.min(...values);
    const high = Math.max(...values);
    return low === high ? [low - 0.5, high + 0.5] : [low, high];
  };
  const [x0, x1] = range(points.map(([x]) => x));
  const [y0, y1] = range(points.map(([, y]) => y));
  const px = (x) => LEFT + ((x - x0) / (x1 - x0)) * (WIDTH - LEFT - 16);
  const py = (y) => HEIGHT - BOTTOM - ((y - y0) / (y1 - y0)) * (HEIGHT - BOTTOM - 16);
  const last = points.at(-1);
  const text = (x, y, words, anchor) => s("text", { x, y, "text-anchor": anchor, class: "chart-text" }, words);
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "chart", "aria-label": `${yName} over ${xName}: ${short(last[1])} at ${compact(last[0])}` });
  for (const y of ticks(y0, y1, 5)) {
    svg.append(s("line", { x1: LEFT, x2: WIDTH - 16, y1: py(y), y2: py(y), class: "chart-grid" }), text(LEFT - 8, py(y) + 4, compact(y), "end"));
  }
  for (const x of ticks(x0, x1, 5)) svg.append(text(px(x), HEIGHT - BOTTOM + 20, compact(x), "middle"));
  svg.append(
    s("polyline", { points: points.map(([x, y]) => `${px(x).toFixed(1)},${py(y).toFixed(1)}`).join(" "), class: "chart-line" }),
    s("circle", { cx: px(last[0]), cy: py(last[1]), r: 4, class: "chart-dot" }),
    text(WIDTH - 16, HEIGHT - 4, xName, "end"),
  );
  return h("figure", { class: "chart-box" }, svg, h("figcaption", {}, `${yName}, now ${short(last[1])}`));
}
