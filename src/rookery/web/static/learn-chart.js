// Several lines over one axis, drawn as SVG: colours and dashes tell them apart, and crosses are single points.

import { h, s, short } from "./dom.js";

const [LEFT, RIGHT, TOP, BOTTOM] = [58, 26, 12, 44];

/** Round numbers between two ends; powers of ten on a logarithmic scale. */
function ticks(low, high, log) {
  if (log) {
    const powers = [];
    for (let power = Math.ceil(Math.log10(low) - 1e-9); power <= Math.log10(high) + 1e-9; power += 1) powers.push(10 ** power);
    if (powers.length > 1) return powers;
  }
  const raw = (high - low) / 5;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((size) => size >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step / 1e6; value += step) found.push(Number(value.toPrecision(12)));
  return found;
}

function scale(values, log, from, to) {
  const change = log ? Math.log10 : (value) => value;
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const place = (value) => from + ((change(value) - change(low)) / (change(high) - change(low))) * (to - from);
  return { place, ticks: ticks(low, high, log) };
}

const compact = (value) => (Math.abs(value) >= 10000 ? Intl.NumberFormat("en", { notation: "compact" }).format(value) : short(value));

/** A figure for a place of the given width, so that its text has the size of other text; `share` of every line is drawn,
    from its beginning. */
export function lines({ x, y, lines: curves, points, log_x: logX, log_y: logY }, share, width) {
  const WIDTH = Math.min(700, Math.max(280, width));
  const HEIGHT = Math.round(120 + WIDTH * 0.33);
  const every = [...Object.values(curves), ...Object.values(points)].flat();
  if (!every.length) return h("p", { class: "soft" }, "Nothing to draw yet.");
  const across = scale(every.map((point) => point[0]), logX, LEFT, WIDTH - RIGHT);
  const up = scale(every.map((point) => point[1]), logY, HEIGHT - BOTTOM, TOP);
  const text = (px, py, words, anchor) => s("text", { x: px, y: py, "text-anchor": anchor, class: "lesson-tick" }, words);
  const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", class: "lesson-chart" });
  for (const value of up.ticks) {
    svg.append(s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: up.place(value), y2: up.place(value), class: "lesson-grid" }), text(LEFT - 7, up.place(value) + 4, compact(value), "end"));
  }
  for (const value of across.ticks) svg.append(text(across.place(value), HEIGHT - BOTTOM + 18, compact(value), "middle"));
  svg.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, x, "middle"));
  const legend = [];
  const said = [];
  Object.entries(curves).forEach(([name, points], i) => {
    const shown = points.slice(0, Math.max(1, Math.ceil(share * points.length)));
    const drawn = s("polyline", { points: shown.map(([px, py]) => `${across.place(px).toFixed(1)},${up.place(py).toFixed(1)}`).join(" "), class: `lesson-line line-${i % 6}` });
    svg.append(drawn);
    if (points.length > 2 && points.length <= 12) for (const [px, py] of shown) svg.append(s("circle", { cx: across.place(px), cy: up.place(py), r: 3.5, class: `lesson-dot line-${i % 6}` }));
    legend.push(h("li", {}, s("svg", { viewBox: "0 0 26 8", "aria-hidden": "true" }, s("line", { x1: 0, x2: 26, y1: 4, y2: 4, class: `lesson-line line-${i % 6}` })), name));
    said.push(`${name}: ${short(shown.at(-1)[1])}`);
  });
  Object.entries(points).forEach(([name, marks], i) => {
    for (const [px, py] of marks) {
      const [cx, cy] = [across.place(px), up.place(py)];
      svg.append(s("path", { d: `M${cx - 5} ${cy - 5}l10 10m0 -10l-10 10`, class: `lesson-cross line-${i % 6}` }));
    }
    legend.push(h("li", {}, s("svg", { viewBox: "0 0 26 10", "aria-hidden": "true" }, s("path", { d: "M9 1l8 8m0 -8l-8 8", class: `lesson-cross line-${i % 6}` })), name));
  });
  svg.setAttribute("aria-label", `${y} over ${x}. At the end, ${said.join("; ")}`);
  return h("div", { class: "lesson-chart-box" }, h("p", { class: "soft small-text" }, y), svg, h("ul", { class: "lesson-legend" }, legend));
}
