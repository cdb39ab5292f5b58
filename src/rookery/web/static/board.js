// A drawn board that can be touched. It knows no game: the server draws, and says for every legal move which cells to
// touch. Touching or dragging narrows the moves down; where several are left and nothing more can be touched, a picker
// on the board asks.

import { calm, drawing, figure, h, parts, s } from "./dom.js";

const GLIDE = 190; // milliseconds that a piece needs for its way
const FAR = 6; // pixels after which a press is a drag
const SMALL = 34; // pixels: a board of many cells that are smaller can be zoomed
const MANY = 12; // cells in a row

export class Board {
  /** `play(action)` is called with the chosen move. */
  constructor(play) {
    this.play = play;
    this.frame = h("div", { class: "board" });
    this.picker = h("div", { class: "picker", role: "group", "aria-label": "Choose a move", hidden: true });
    this.tip = h("div", { class: "tip", "aria-hidden": "true", hidden: true });
    const zoom = (name, label, by) => h("button", { type: "button", class: "icon", "aria-label": label, title: label, onclick: () => this.zoomBy(by) }, name);
    this.zoomBar = h("div", { class: "zoom", role: "group", "aria-label": "Zoom", hidden: true }, zoom("+", "Zoom in", 1.4), zoom("−", "Zoom out", 1 / 1.4));
    this.element = h("div", { class: "board-area" }, this.frame, this.zoomBar, this.picker, this.tip);
    this.flipped = false;
    this.width = this.height = this.aspect = 1;
    /** @type {((dx: number, dy: number) => void) | null} Called where the pointer has swept over the board. */
    this.onswipe = null;
    this.path = [];
    this.legal = [];
    this.waiting = null; // the move that a second tap makes
    this.shown = null;
    this.refocus = null; // the cell that had the focus before the drawing was replaced
    this.words = new Map(); // what moves are worth, if that is to be told
    this.byKeyboard = false; // the focus came by the keyboard, so that arrows walk over the board
    this.view = { k: 1, x: 0, y: 0 }; // zoom: how much, and the middle
    this.pointers = new Map();
    this.drag = null;
    this.boxes = new Map();
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("pointerdown", (event) => this.press(event));
    this.frame.addEventListener("pointermove", (event) => this.pull(event));
    this.frame.addEventListener("pointerup", (event) => this.release(event));
    this.frame.addEventListener("pointercancel", (event) => this.letGo(event));
    this.frame.addEventListener("wheel", (event) => {
      if (!event.ctrlKey || this.zoomBar.hidden) return;
      event.preventDefault();
      this.zoomBy(event.deltaY < 0 ? 1.15 : 1 / 1.15);
    }, { passive: false });
    new ResizeObserver(() => this.offerZoom()).observe(this.frame);
  }

  /** Show a drawing, with `legal` moves to touch (none: only look) and `lit` cells. `path` are the cells of the move
   * that led here, or back from there: what moved is seen moving. */
  show(svg, label, legal, lit = [], path = null) {
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
      this.drag = null;
    }
    const focused = /** @type {HTMLElement} */ (document.activeElement);
    if (this.frame.contains(focused)) this.refocus = Number(focused.dataset.touch);
    const before = this.svg ? { pieces: this.pieces(), fills: this.fills(), boxes: this.boxes } : null;
    this.legal = legal;
    this.svg = drawing(svg, label);
    this.svg.setAttribute("role", legal.length ? "group" : "img");
    [, , this.width, this.height] = this.svg.getAttribute("viewBox").split(" ").map(Number);
    this.aspect = this.width / this.height;
    this.frame.style.setProperty("--aspect", this.aspect); // the style sheet fits the board into the window by it
    this.boxes = new Map();
    for (const cell of parts(this.svg, "[data-cell]")) this.boxes.set(Number(cell.dataset.cell), box(cell));
    if (this.flipped) turn(this.svg);
    this.marks = s("g", { "pointer-events": "none" });
    this.above = s("g", { "pointer-events": "none" });
    this.layer = s("g", {});
    this.inside = this.flipped ? parts(this.svg, "g.turned")[0] : this.svg;
    const first = [...this.inside.children].find((child) => child.matches("[data-piece]"));
    if (first) first.before(this.marks);
    else this.inside.append(this.marks);
    this.inside.append(this.above, this.layer);
    this.frame.replaceChildren(this.svg);
    this.frame.classList.toggle("held", legal.some((move) => move.key || (move.cells.length > 1 && !move.line)));
    this.keepView(before?.boxes);
    this.lit = lit;
    this.refresh();
    if (this.waiting) this.mark([this.waiting]);
    if (before && path && !calm()) this.move(before, path);
    this.dropped = null;
    this.offerZoom();
    // Who plays by keyboard is back on the board when it is their turn again, unless they went elsewhere.
    if (this.refocus !== null && legal.length) {
      if (document.activeElement === document.body) this.focus(this.refocus);
      this.refocus = null;
    }
  }

  flip(flipped) {
    this.flipped = flipped;
  }

  // Motion

  /** What stands on the board: kind, place and element of every piece. */
  pieces() {
    return parts(this.svg, "[data-piece]").map((element) => {
      const [x, y] = element.dataset.upright.split(" ").map(Number);
      return { kind: element.dataset.piece, x, y, element };
    });
  }

  fills() {
    return new Map(parts(this.svg, "[data-cell]").map((cell) => [cell.dataset.cell, cell.getAttribute("fill")]));
  }

  centre(cell) {
    const place = this.boxes.get(cell);
    return place && { x: place.x + place.width / 2, y: place.y + place.height / 2 };
  }

  /** Let what is new glide from where it was, and what is gone fade. */
  move(before, path) {
    const now = this.pieces();
    const stays = (piece, others) => others.some((other) => other.kind === piece.kind && near(piece, other));
    const gone = before.pieces.filter((piece) => !stays(piece, now));
    const come = now.filter((piece) => !stays(piece, before.pieces));
    if (come.length > 8) return;
    const way = path.map((cell) => this.centre(cell)).filter(Boolean);
    for (const piece of come) {
      let from = way.length > 1 && near(piece, way.at(-1)) ? gone.find((other) => near(other, way[0])) : null;
      const stops = from ? way : null;
      from ??= gone.filter((other) => other.kind === piece.kind).sort((a, b) => distance(a, piece) - distance(b, piece))[0];
      if (from) gone.splice(gone.indexOf(from), 1);
      if (this.dropped !== null && near(piece, this.centre(this.dropped) ?? {})) continue; // it was carried there
      if (from) glide(piece, stops ?? [from, piece]);
      else piece.element.animate([{ opacity: 0 }, { opacity: 1 }], { duration: GLIDE });
    }
    for (const piece of gone) {
      this.marks.append(piece.element);
      piece.element.animate([{ opacity: 1 }, { opacity: 0 }], { duration: GLIDE, fill: "forwards" }).finished.then(() => piece.element.remove(), () => null);
    }
    for (const cell of parts(this.svg, "[data-cell]")) {
      const fill = before.fills.get(cell.dataset.cell);
      if (fill !== undefined && fill !== cell.getAttribute("fill")) cell.animate([{ opacity: 0.15 }, { opacity: 1 }], { duration: 1.5 * GLIDE });
    }
  }

  // Zoom

  offerZoom() {
    if (!this.svg) return;
    this.zoomBar.hidden = this.view.k === 1 && (this.width < MANY || this.frame.clientWidth / this.width >= SMALL);
  }

  zoomBy(factor) {
    const k = Math.min(5, Math.max(1, this.view.k * factor));
    if (this.view.k === 1) Object.assign(this.view, { x: this.width / 2, y: this.height / 2 });
    this.view.k = k < 1.05 ? 1 : k;
    this.applyView();
  }

  panBy(dx, dy) {
    this.view.x += dx;
    this.view.y += dy;
    this.applyView();
  }

  /** The same part of a drawing that may have grown. */
  keepView(before) {
    if (this.view.k === 1) return;
    const cell = before && [...before.keys()].find((key) => this.boxes.has(key));
    if (cell !== undefined) {
      this.view.x += this.boxes.get(cell).x - before.get(cell).x;
      this.view.y += this.boxes.get(cell).y - before.get(cell).y;
    }
    this.applyView();
  }

  applyView() {
    const { k } = this.view;
    const [width, height] = [this.width / k, this.height / k];
    this.view.x = Math.min(this.width - width / 2, Math.max(width / 2, this.view.x));
    this.view.y = Math.min(this.height - height / 2, Math.max(height / 2, this.view.y));
    this.frame.classList.toggle("zoomed", k > 1);
    this.svg.setAttribute("viewBox", `${this.view.x - width / 2} ${this.view.y - height / 2} ${width} ${height}`);
    this.offerZoom();
  }

  // Dragging

  /** A point of the screen on the drawing. */
  point(event) {
    return new DOMPoint(event.clientX, event.clientY).matrixTransform(this.inside.getScreenCTM().inverse());
  }

  cellAt({ x, y }) {
    for (const [cell, place] of this.boxes) {
      if (x >= place.x && x < place.x + place.width && y >= place.y && y < place.y + place.height) return cell;
    }
    return null;
  }

  press(event) {
    this.byKeyboard = false;
    if (event.button !== 0 || !this.svg) return;
    this.pointers.set(event.pointerId, event);
    if (this.pointers.size === 2) {
      this.endDrag();
      return;
    }
    const cell = Number(event.target.closest?.(".touch")?.dataset.touch ?? NaN);
    const moves = this.legal.filter((move) => move.cells[0] === cell && move.cells.length > 1 && !move.line);
    this.drag = { id: event.pointerId, cell, moves, x: event.clientX, y: event.clientY, finger: event.pointerType !== "mouse", began: false };
  }

  pull(event) {
    const last = this.pointers.get(event.pointerId);
    if (!last) return;
    if (this.pointers.size === 2 && !this.zoomBar.hidden) {
      const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
      const apart = (pointer) => Math.hypot(pointer.clientX - other.clientX, pointer.clientY - other.clientY) || 1;
      this.zoomBy(apart(event) / apart(last));
    }
    const { drag } = this;
    if (drag?.id === event.pointerId) {
      const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > FAR;
      if (!drag.began && far) this.begin(event);
      if (drag.began) {
        event.preventDefault();
        if (drag.moves.length) this.carry(event);
        else if (this.view.k > 1) {
          const [a, b] = [this.point(last), this.point(event)];
          this.panBy(a.x - b.x, a.y - b.y);
        }
      }
    }
    this.pointers.set(event.pointerId, event);
  }

  begin(event) {
    const { drag } = this;
    drag.began = true;
    this.frame.setPointerCapture(event.pointerId);
    if (!drag.moves.length) return;
    this.closePicker();
    this.waiting = null;
    this.path = [drag.cell];
    this.findTargets(); // what a finger holds must not be replaced, or nothing more is heard of it
    this.mark([]);
    drag.shapes = drag.moves.filter((move) => move.preview).map((move) => ({ move, ...this.middle(move.preview) }));
    const at = this.centre(drag.cell);
    const piece = this.pieces().find((one) => near(one, at));
    if (drag.shapes.length) {
      // The piece at its true size, drawn from the cells that one of its moves fills.
      const first = drag.shapes[0];
      const blocks = first.move.preview.map((cell) => this.boxes.get(cell)).filter(Boolean);
      drag.ghost = s("g", { class: "ghost" }, ...blocks.map((place) => s("rect", { ...place, rx: 0.12 })));
      drag.from = first;
    } else if (piece) {
      drag.ghost = wrapped(piece.element);
      drag.from = at;
    }
    if (drag.ghost) this.inside.append(drag.ghost); // above everything
    this.frame.classList.add("dragging");
  }

  /** The middle of some cells. */
  middle(cells) {
    const places = cells.map((cell) => this.centre(cell)).filter(Boolean);
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    return { x: mean(places.map(({ x }) => x)), y: mean(places.map(({ y }) => y)) };
  }

  carry(event) {
    const { drag } = this;
    const at = this.point(event);
    // A finger must not hide what it carries.
    const place = drag.shapes.length && drag.finger ? { x: at.x, y: at.y + (this.flipped ? 1.6 : -1.6) } : at;
    drag.ghost?.setAttribute("transform", `translate(${place.x - drag.from.x} ${place.y - drag.from.y})`);
    drag.target = null;
    if (drag.shapes.length) {
      const closest = drag.shapes.reduce((best, shape) => (distance(shape, place) < distance(best, place) ? shape : best));
      if (distance(closest, place) < 0.8) drag.target = closest.move;
      this.mark(drag.target ? [drag.target] : []);
    } else {
      const cell = this.cellAt(at);
      drag.target = cell !== null && cell !== drag.cell && this.matching([drag.cell, cell]).length ? cell : null;
      this.mark([], drag.target);
    }
  }

  release(event) {
    this.pointers.delete(event.pointerId);
    const { drag } = this;
    if (drag?.id !== event.pointerId) return;
    const { began, moves, target, cell, shapes } = drag;
    this.endDrag();
    if (!began) {
      if (!Number.isNaN(cell)) this.touch(cell, event.pointerType === "touch");
      return;
    }
    if (!moves.length) {
      if (this.view.k === 1) this.onswipe?.(event.clientX - drag.x, event.clientY - drag.y);
      return;
    }
    if (target === null || target === undefined) {
      if (this.cellAt(this.point(event)) !== cell) this.clear();
      else this.refresh();
    } else if (shapes.length) {
      this.play(target.action);
    } else {
      this.dropped = target;
      this.touch(target, false);
    }
  }

  letGo(event) {
    this.pointers.delete(event.pointerId);
    if (this.drag?.id === event.pointerId) this.endDrag();
  }

  endDrag() {
    const { drag } = this;
    this.drag = null;
    this.frame.classList.remove("dragging");
    if (!drag?.ghost) return;
    if (drag.shapes.length) drag.ghost.remove();
    else drag.ghost.removeAttribute("transform");
  }

  // Touching

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

  /** Where the touched path may go on: cell to the moves it leads to. */
  findTargets() {
    const next = new Map();
    for (const { move, at } of this.path.length ? this.matching(this.path) : []) {
      for (const cell of new Set(move.cells.slice(at + 1))) offer(next, cell, move);
    }
    this.targets = new Map([...next].map(([cell, moves]) => [cell, moves[0]]));
    return next;
  }

  refresh() {
    const next = this.findTargets();
    for (const move of this.legal) if (move.cells.length && !this.targets.has(move.cells[0])) offer(next, move.cells[0], move);
    this.layer.replaceChildren();
    for (const [cell, moves] of [...next].sort((a, b) => a[0] - b[0])) {
      const place = this.boxes.get(cell);
      if (!place) continue;
      const names = moves.map(told);
      const label = names.length > 8 ? `${names.slice(0, 8).join("; ")} and ${names.length - 8} more` : names.join("; ");
      const open = moves[0].line && moves[0].cells[0] === cell;
      if (open) this.layer.append(s("circle", { cx: place.x + place.width / 2, cy: place.y + place.height / 2, r: 0.14, class: "open" }));
      const classes = ["touch", this.targets.has(cell) && "target", this.path.includes(cell) && "chosen"].filter(Boolean);
      const rect = s("rect", {
        ...place, rx: 0.04, class: classes.join(" "), "data-touch": cell, tabindex: -1, role: "button", "aria-label": label,
      });
      rect.addEventListener("click", (event) => event.detail === 0 && this.touch(cell, false)); // by a reader of screens
      rect.addEventListener("pointerenter", (event) => event.pointerType !== "touch" && this.consider(cell));
      rect.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && !this.drag?.began && this.picker.hidden && this.mark([]));
      rect.addEventListener("focus", () => {
        this.rove(rect);
        if (rect.matches(":focus-visible")) {
          this.byKeyboard = true;
          this.consider(cell);
        }
      });
      rect.addEventListener("blur", () => this.waiting === null && this.picker.hidden && this.mark([]));
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
    rect?.focus({ preventScroll: true });
  }

  /** Show what the moves at hand would do, and what they are worth. */
  consider(cell) {
    if (this.drag?.began || !this.picker.hidden) return;
    const found = this.matching([...this.path, cell]);
    const moves = (found.length ? found : this.matching([cell])).map(({ move }) => move);
    this.mark(moves.filter((move) => move.preview).slice(0, 12), cell);
    this.tell(cell, moves);
  }

  /** A few words about moves beside a cell. */
  tell(cell, moves) {
    const known = moves.filter((move) => this.words.has(move.action)).slice(0, 4);
    this.tip.hidden = !known.length;
    if (!known.length) return;
    this.tip.replaceChildren(...known.map((move) => h("div", {}, `${told(move)}: `, h("b", {}, this.words.get(move.action)))));
    this.place(this.tip, cell);
  }

  /** Put an element beside a cell, inside the frame. */
  place(element, cell) {
    const rect = this.layer.querySelector(`[data-touch="${cell}"]`) ?? this.svg.querySelector(`[data-cell="${cell}"]`);
    if (!rect) return;
    const [area, at] = [this.element.getBoundingClientRect(), rect.getBoundingClientRect()];
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = at.left - area.left + at.width / 2 - width / 2;
    const below = at.bottom - area.top + 4;
    const top = below + height > area.height ? at.top - area.top - height - 4 : below;
    element.style.left = `${Math.max(2, Math.min(area.width - width - 2, left))}px`;
    element.style.top = `${Math.max(2, top)}px`;
  }

  /** Marks: what is lit, what is touched, where it may go, and what moves would fill or join. */
  mark(moves, hovered = null) {
    this.marks.replaceChildren();
    this.above.replaceChildren();
    this.tip.hidden = true;
    const add = (cell, kind, group = this.marks) => {
      const place = this.boxes.get(cell);
      if (place) group.append(s("rect", { ...place, class: kind }));
    };
    for (const cell of this.lit) add(cell, "lit");
    for (const cell of this.path) add(cell, "picked");
    const pieces = this.targets.size ? this.pieces() : [];
    for (const [cell, move] of this.targets) {
      const at = this.centre(cell);
      if (!at || move.preview || cell === hovered) continue;
      const taken = pieces.some((piece) => near(piece, at));
      this.marks.append(s("circle", { cx: at.x, cy: at.y, r: taken ? 0.44 : 0.15, class: taken ? "ring" : "dot" }));
    }
    if (hovered !== null && this.targets.has(hovered) && !this.targets.get(hovered).preview) add(hovered, "aim");
    for (const move of moves) {
      if (move.line) {
        const [a, b, dot] = [...move.line, move.cells[0]].map((cell) => this.centre(cell));
        if (!a || !b || !dot) continue;
        this.above.append(s("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y, class: "preview-line" }), s("circle", { cx: dot.x, cy: dot.y, r: 0.26, class: "preview" }));
      } else for (const cell of new Set(move.preview ?? move.cells)) add(cell, "preview", this.above);
    }
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
    // A line is told by its dot, and by its end where several go through it. A piece of a hand must be put somewhere.
    const shown = left[0].preview !== undefined && (whole.length > 0 || left[0].line !== undefined);
    if (left.length === 1 && (whole.length || shown) && !(finger && shown)) {
      this.play(left[0].action);
      return;
    }
    this.path = path;
    this.refresh();
    this.focus(cell);
    if (left.length === 1 && shown) {
      this.waiting = left[0]; // a finger hides what it points at: look first, tap again
      this.mark([left[0]]);
    } else {
      this.waiting = null;
      if (whole.length || shown) this.pick(left, cell);
    }
  }

  pick(moves, cell) {
    this.mark(moves);
    const icons = moves.every((move) => move.icon);
    this.picker.classList.toggle("icons", icons);
    this.picker.replaceChildren(
      ...moves.map((move) => h("button", {
        type: "button", "aria-label": icons ? told(move) : null, title: icons ? told(move) : null,
        onclick: () => this.play(move.action),
        onpointerenter: () => this.mark([move]),
        onfocus: () => this.mark([move]),
      }, icons ? drawing(move.icon, null) : [figure(move, this.boxes), told(move)])),
      h("button", { type: "button", class: "quiet", "aria-label": "Cancel", title: "Cancel", onclick: () => this.clear(this.path[0]) }, "✕"),
    );
    this.picker.hidden = false;
    this.place(this.picker, cell);
    this.picker.querySelector("button").focus({ preventScroll: true });
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
    if (cell !== undefined) this.focus(cell);
  }

  key(event) {
    const rect = event.target.closest?.(".touch");
    if (!rect) return;
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.byKeyboard = true;
      this.touch(Number(rect.dataset.touch), false);
    } else if (event.key === "Escape") {
      this.clear(Number(rect.dataset.touch));
    } else if (steps[event.key] && this.byKeyboard) {
      event.preventDefault();
      this.step(rect, steps[event.key]);
    }
  }

  step(from, [dx, dy]) {
    const sign = this.flipped ? -1 : 1;
    const centre = (rect) => {
      const { x, y } = this.centre(Number(rect.dataset.touch));
      return [sign * x, sign * y];
    };
    const [x0, y0] = centre(from);
    let best = null;
    for (const rect of this.touchable()) {
      const [x, y] = centre(rect);
      const along = (x - x0) * dx + (y - y0) * dy;
      const aside = Math.abs((x - x0) * dy) + Math.abs((y - y0) * dx);
      if (along > 0.01 && (best === null || along + 2 * aside < best.cost)) best = { rect, cost: along + 2 * aside };
    }
    best?.rect.focus({ preventScroll: true });
  }
}

function offer(map, cell, move) {
  if (!map.has(cell)) map.set(cell, []);
  map.get(cell).push(move);
}

/** What people call a move. */
export function told(move) {
  return move.label ?? move.name;
}

function near(a, b) {
  return Math.abs(a.x - b.x) < 0.2 && Math.abs(a.y - b.y) < 0.2;
}

function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

/** A group around an element, which may have a place of its own. */
function wrapped(element) {
  const group = s("g", { "pointer-events": "none" });
  element.replaceWith(group);
  group.append(element);
  return group;
}

function glide(piece, stops) {
  const group = wrapped(piece.element);
  const frames = stops.map(({ x, y }) => ({ transform: `translate(${x - piece.x}px, ${y - piece.y}px)` }));
  group.animate(frames, { duration: GLIDE * Math.max(1, 0.7 * (stops.length - 1)), easing: "ease-in-out" });
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
