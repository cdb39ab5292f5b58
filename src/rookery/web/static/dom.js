// Small helpers around the DOM.

/**
 * An element: h("button", {class: "x", onclick: f}, "text", child). Attributes that are null or false are left out.
 * @param {string} tag
 * @param {Record<string, any>} attributes
 * @param {any[]} children
 * @returns {any} The element; which kind depends on the tag.
 */
export function h(tag, attributes = {}, ...children) {
  const element = /** @type {any} */ (document.createElement(tag));
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * A drawing of the server as an element that fills its place.
 * @param {string} text
 * @param {string | null} [label]
 * @returns {SVGSVGElement}
 */
export function drawing(text, label) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  const svg = /** @type {any} */ (document.importNode(parsed.documentElement, true));
  svg.removeAttribute("width");
  svg.removeAttribute("height");
  svg.querySelector("title")?.remove();
  if (label === null) svg.setAttribute("aria-hidden", "true");
  else if (label) svg.setAttribute("aria-label", label);
  return svg;
}

/**
 * The elements inside another that a selector names.
 * @param {Element} svg
 * @param {string} selector
 * @returns {SVGGraphicsElement[]}
 */
export function parts(svg, selector) {
  return /** @type {SVGGraphicsElement[]} */ ([...svg.querySelectorAll(selector)]);
}

export function options(select, values, chosen, name = (value) => value) {
  select.replaceChildren(...values.map((value) => {
    const option = h("option", { value }, name(value));
    option.selected = value === chosen;
    return option;
  }));
  return select;
}

/** Whether the system asks for reduced motion. */
export function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** A small picture of the cells that a move fills or joins, by where they lie on the board; nothing where it has none. */
export function figure(move, boxes) {
  const places = (move.preview ?? []).map((cell) => boxes.get(cell));
  if (!places.length || places.some((place) => !place)) return null;
  const low = (key) => Math.min(...places.map((place) => place[key]));
  const [left, top] = [low("x"), low("y")];
  const size = Math.max(...places.map((place) => Math.max(place.x + place.width - left, place.y + place.height - top)));
  const svg = s("svg", { viewBox: `${left - 0.1} ${top - 0.1} ${size + 0.2} ${size + 0.2}`, class: "figure", "aria-hidden": "true" });
  const middle = (place) => [place.x + place.width / 2, place.y + place.height / 2];
  if (move.line) {
    const [[x1, y1], [x2, y2]] = move.line.map((cell) => middle(boxes.get(cell)));
    svg.append(s("line", { x1, y1, x2, y2, class: "figure-line" }));
    places.forEach((place, i) => {
      const [cx, cy] = middle(place);
      const fresh = move.preview[i] === (move.cells?.[0] ?? move.dot);
      svg.append(s("circle", { cx, cy, r: fresh ? 0.42 : 0.24, class: fresh ? "figure-new" : "figure-dot" }));
    });
  } else svg.append(...places.map((place) => s("rect", { ...place, class: "figure-new" })));
  return svg;
}

/** Seconds as people write them: 1:05. */
export function clock(seconds) {
  const two = (number) => String(number).padStart(2, "0");
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

let toastTimer = 0;

/** A short message that goes away by itself. */
export function toast(text) {
  const box = document.getElementById("toast");
  box.textContent = text;
  box.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => box.classList.remove("shown"), 4000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    toast("The browser does not allow copying; select the text instead");
  }
}

/** A value of an agent, short. */
export function short(value) {
  const size = Math.abs(value);
  if (size >= 1e15) return value > 0 ? "∞" : "-∞";
  if (size < 1e-12) return "0";
  if (Number.isInteger(value) || size >= 1e4) return Math.round(value).toLocaleString("en");
  if (size < 1e-4) return value.toFixed(1 - Math.floor(Math.log10(size))); // two digits, and no exponent
  return String(Number(value.toPrecision(4)));
}

const AGENT_WORDS = {
  best: "Best known", oracle: "Oracle (exact)", mcts: "Tree search", dqn: "Deep Q-network", "q-learning": "Q-learning",
  voting: "Prior State Voting", lspi: "LSPI", ntuple: "N-tuple network", nrpa: "NRPA", nmcs: "NMCS", td: "TD learning",
};

/** What people call a method. */
export function methodName(name) {
  return AGENT_WORDS[name] ?? `${name[0].toUpperCase()}${name.slice(1).replaceAll("-", " ")}`;
}

/** What people call an agent: "minimax:depth=3" is "Minimax, depth 3"; one with an @ was trained by a run. */
export function agentName(name) {
  if (name === "person") return "You";
  const [trained, run] = name.split("@");
  if (run) return `${methodName(trained)}, run ${run.slice(0, 4)}`;
  const [base, settings] = name.split(":");
  const words = (settings ?? "").split(",").filter(Boolean).map((part) => {
    const [key, value] = part.split("=");
    return `${key} ${Number.isNaN(Number(value)) ? value : Number(value).toLocaleString("en")}`;
  });
  return [methodName(base), ...words].join(", ");
}
