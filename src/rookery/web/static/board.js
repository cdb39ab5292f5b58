// A drawn board that can be touched. It knows no game: the server draws, and says for every legal move which cells to
// touch. Touching narrows the moves down; where several are left and nothing more can be touched, a picker asks.

import { drawing, h, s } from "./dom.js";

export class Board {
  /** `play(action)` is called with the chosen move. */
  constructor(play) {
    this.play = play;
    this.frame = h("div", { class: "board" });
    this.picker = h("div", { class: "picker", role: "group", "aria-label": "Choose a move", hidden: true });
    this.element = h("div", { class: "board-area" }, this.frame);
    this.flipped = false;
    this.path = [];
    this.legal = [];
    this.waiting = null; // the move that a second tap makes
    this.shown = null;
    this.refocus = null; // the cell that had the focus before the drawing was replaced
    this.frame.addEventListener("keydown", (event) => this.key(event));
  }

  /** Show a drawing, with `legal` moves to touch (none: only look) and `lit` cells. */
  show(svg, label, legal, lit = []) {
    // What was touched stays touched while the position stays; and a drawing that stays is not replaced under a finger.
    const moves = JSON.stringify([label, legal]);
    const all = JSON.stringify([svg, moves, lit, this.flipped]);
    if (all === this.shown?.all) return;
    const same = moves === this.shown?.moves;
    this.shown = { all, moves };
    if (!same) {
      this.closePicker();
      this.path = [];
      this.waiting = null;
    }
    if (this.frame.contains(document.activeElement)) this.refocus = Number(document.activeElement.dataset.touch);
    this.label = label;
    this.legal = legal;
    this.svg = drawing(svg, label);
    this.svg.setAttribute("role", legal.length ? "group" : "img");
    const [, , width, height] = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.frame.style.setProperty("--aspect", width / height); // the style sheet fits the board into the window by it
    this.boxes = new Map();
    for (const cell of this.svg.querySelectorAll("[data-cell]")) this.boxes.set(Number(cell.dataset.cell), box(cell));
    if (this.flipped) turn(this.svg);
    this.marks = s("g", { "pointer-events": "none" });
    this.layer = s("g", {});
    const inside = this.flipped ? this.svg.querySelector("g.turned") : this.svg;
    inside.append(this.marks, this.layer);
    this.frame.replaceChildren(this.svg);
    this.lit = lit;
    this.refresh();
    if (this.waiting) this.mark(this.waiting.preview);
    // Who plays by keyboard is back on the board when it is their turn again, unless they went elsewhere.
    if (this.refocus !== null && legal.length) {
      if (document.activeElement === document.body) this.focus(this.refocus);
      this.refocus = null;
    }
  }

  flip(flipped) {
    this.flipped = flipped;
  }

  /** Moves that begin with the touched cells; later cells of a path may be left out. */
  matching(path) {
    if (path.length === 0) return this.legal.map((move) => ({ move, at: -1 }));
    const found = [];
    for (const move of this.legal) {
      if (move.cells[0] !== path[0]) continue;
      let at = 0;
      for (const cell of path.slice(1)) {
        at = move.cells.indexOf(cell, at + 1);
        if (at < 0) break;
      }
      if (at >= 0) found.push({ move, at });
    }
    return found;
  }

  refresh() {
    const next = new Map(); // cell to the moves it leads to
    const offer = (cell, move) => {
      if (!next.has(cell)) next.set(cell, []);
      next.get(cell).push(move);
    };
    for (const { move, at } of this.path.length ? this.matching(this.path) : []) {
      for (const cell of new Set(move.cells.slice(at + 1))) offer(cell, move);
    }
    const targets = new Set(next.keys());
    for (const move of this.legal) if (move.cells.length && !targets.has(move.cells[0])) offer(move.cells[0], move);
    this.layer.replaceChildren();
    for (const [cell, moves] of [...next].sort((a, b) => a[0] - b[0])) {
      const place = this.boxes.get(cell);
      if (!place) continue;
      const names = moves.map((move) => move.name);
      const label = names.length > 8 ? `${names.slice(0, 8).join(", ")} and ${names.length - 8} more` : names.join(", ");
      const open = moves[0].preview && moves[0].cells[0] === cell && moves[0].cells.length > 1;
      if (open) this.layer.append(s("circle", { cx: place.x + place.width / 2, cy: place.y + place.height / 2, r: 0.14, class: "open" }));
      const classes = ["touch", targets.has(cell) && "target", this.path.includes(cell) && "chosen"].filter(Boolean);
      const rect = s("rect", {
        ...place, rx: 0.1, class: classes.join(" "), "data-touch": cell, tabindex: -1, role: "button", "aria-label": label,
      });
      rect.addEventListener("click", (event) => this.touch(cell, event.pointerType === "touch"));
      rect.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && this.consider(cell));
      rect.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.mark([]));
      rect.addEventListener("focus", () => {
        this.rove(rect);
        if (rect.matches(":focus-visible")) this.consider(cell);
      });
      rect.addEventListener("blur", () => this.waiting === null && this.mark([]));
      this.layer.append(rect);
    }
    const first = this.layer.querySelector(".chosen") ?? this.layer.querySelector(".touch");
    if (first) this.rove(first);
    this.mark([]);
  }

  /** One stop for the tab key; arrows go from cell to cell. */
  rove(rect) {
    for (const other of this.touchable()) other.setAttribute("tabindex", other === rect ? 0 : -1);
  }

  touchable() {
    return this.layer.querySelectorAll(".touch");
  }

  focus(cell) {
    const rect = this.layer.querySelector(`[data-touch="${cell}"]`) ?? this.layer.querySelector('[tabindex="0"]');
    rect?.focus();
  }

  /** Light up what the moves at hand would do. */
  consider(cell) {
    const found = this.matching([...this.path, cell]);
    const moves = (found.length ? found : this.matching([cell])).map(({ move }) => move);
    this.mark(moves.slice(0, 12).flatMap((move) => move.preview ?? []));
  }

  mark(cells) {
    this.marks.replaceChildren();
    const add = (cell, kind) => {
      const place = this.boxes.get(cell);
      if (place) this.marks.append(s("rect", { ...place, rx: 0.12, class: kind }));
    };
    for (const cell of this.lit) add(cell, "lit");
    for (const cell of this.path) add(cell, "picked");
    for (const cell of new Set(cells)) add(cell, "preview");
  }

  touch(cell, finger) {
    this.closePicker();
    const again = this.path.at(-1) === cell;
    if (this.waiting && again) {
      this.play(this.waiting.action);
      return;
    }
    if (again) {
      this.clear(cell);
      return;
    }
    let path = [...this.path, cell];
    let found = this.matching(path);
    if (!found.length) {
      path = [cell];
      found = this.matching(path);
    }
    if (!found.length) {
      this.clear(cell);
      return;
    }
    const whole = found.filter(({ move, at }) => at === move.cells.length - 1);
    const left = (whole.length ? whole : found).map(({ move }) => move);
    const shown = left[0].preview !== undefined;
    if (left.length === 1 && (whole.length || shown) && !(finger && shown)) {
      this.play(left[0].action);
      return;
    }
    this.path = path;
    this.refresh();
    this.focus(cell);
    if (left.length === 1 && shown) {
      this.waiting = left[0]; // a finger hides what it points at: look first, tap again
      this.mark(left[0].preview);
    } else {
      this.waiting = null;
      if (whole.length || shown) this.pick(left);
    }
  }

  pick(moves) {
    this.mark(moves.flatMap((move) => move.preview ?? []));
    this.picker.replaceChildren(
      h("span", {}, "Which one?"),
      ...moves.map((move) => h("button", {
        type: "button",
        onclick: () => this.play(move.action),
        onpointerenter: () => this.mark(move.preview ?? []),
        onfocus: () => this.mark(move.preview ?? []),
      }, move.name)),
      h("button", { type: "button", class: "quiet", onclick: () => this.clear(this.path[0]) }, "Cancel"),
    );
    this.picker.hidden = false;
    this.picker.querySelector("button").focus();
    this.picker.onkeydown = (event) => event.key === "Escape" && this.clear(this.path[0]);
  }

  closePicker() {
    if (this.picker.contains(document.activeElement)) this.refocus = this.path[0] ?? null;
    this.picker.hidden = true;
    this.picker.replaceChildren();
  }

  clear(cell) {
    this.path = [];
    this.waiting = null;
    this.closePicker();
    this.refresh();
    this.focus(cell);
  }

  key(event) {
    const rect = event.target.closest?.(".touch");
    if (!rect) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.touch(Number(rect.dataset.touch), false);
    } else if (event.key === "Escape") {
      this.clear(Number(rect.dataset.touch));
    } else if (steps[event.key]) {
      event.preventDefault();
      this.step(rect, steps[event.key]);
    }
  }

  step(from, [dx, dy]) {
    const sign = this.flipped ? -1 : 1;
    const centre = (rect) => {
      const { x, y, width, height } = this.boxes.get(Number(rect.dataset.touch));
      return [sign * (x + width / 2), sign * (y + height / 2)];
    };
    const [x0, y0] = centre(from);
    let best = null;
    for (const rect of this.touchable()) {
      const [x, y] = centre(rect);
      const along = (x - x0) * dx + (y - y0) * dy;
      const aside = Math.abs((x - x0) * dy) + Math.abs((y - y0) * dx);
      if (along > 0.01 && (best === null || along + 2 * aside < best.cost)) best = { rect, cost: along + 2 * aside };
    }
    best?.rect.focus();
  }
}

/** Where a cell is, from the numbers in the drawing. */
function box(cell) {
  const number = (name) => Number(cell.getAttribute(name));
  if (cell.tagName === "circle") {
    const r = number("r");
    return { x: number("cx") - r, y: number("cy") - r, width: 2 * r, height: 2 * r };
  }
  return { x: number("x"), y: number("y"), width: number("width"), height: number("height") };
}

/** Turn the board round, and what must stay upright back again. */
function turn(svg) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const all = s("g", { class: "turned", transform: `rotate(180 ${width / 2} ${height / 2})` });
  all.append(...svg.childNodes);
  svg.append(all);
  for (const text of all.querySelectorAll("text")) {
    const size = Number(text.getAttribute("font-size"));
    const y = Number(text.getAttribute("y")) - 0.35 * size; // the middle of the line
    text.setAttribute("transform", `rotate(180 ${text.getAttribute("x")} ${y})`);
  }
  for (const piece of all.querySelectorAll("[data-upright]")) {
    piece.setAttribute("transform", `rotate(180 ${piece.dataset.upright}) ${piece.getAttribute("transform") ?? ""}`);
  }
}
