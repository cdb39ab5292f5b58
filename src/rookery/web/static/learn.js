// Papers as pages one can touch: whatever a game's folder has in its lesson. Nothing here knows a game.

import { get, post } from "./api.js";
import { drawing, h, options } from "./dom.js";
import { lines } from "./learn-chart.js";

const words = (name) => name.replaceAll("_", " ");

export async function learnPage(place) {
  const { lessons } = await get("/learn");
  place.append(h("h1", {}, "Learn"), h("p", { class: "lead" }, "Papers as pages that you can touch: what they did, their key figure made anew, and experiments that run here in seconds."),
    h("ul", { class: "lesson-cards" }, lessons.map((lesson) => h("li", {},
      h("a", { class: "lesson-card", href: `#/learn/${lesson.name}` }, h("div", { class: "lesson-thumb" }, drawing(lesson.svg, null)),
        h("div", { class: "lesson-words" }, h("h2", {}, lesson.title), h("p", {}, lesson.summary), h("p", { class: "soft small-text" }, lesson.paper)))))));
}

export async function lessonPage(place, _query, name) {
  const lesson = await get(`/learn/${name}`);
  const leaving = [];
  const [figure, ...experiments] = lesson.experiments.map((row) => {
    const made = new Experiment(name, row);
    leaving.push(() => made.close());
    return made;
  });
  place.classList.add("lesson");
  place.append(
    h("p", {}, h("a", { href: "#/learn" }, "All papers")),
    h("h1", {}, lesson.title),
    h("p", { class: "lead" }, `${lesson.paper}: `, h("cite", {}, lesson.paper_title)),
    h("div", { class: "lesson-top" },
      h("section", {}, h("h2", {}, "What the paper did"), h("ol", { class: "lesson-story" }, lesson.story.map((sentence) => h("li", {}, sentence)))),
      figure.element),
    ...experiments.map((experiment) => experiment.element),
    h("section", {}, h("h2", {}, "What became of its claims"),
      h("ul", { class: "lesson-findings" }, lesson.findings.map(({ claimed, found, verdict }) => h("li", {},
        h("dl", {}, h("dt", {}, "The paper"), h("dd", {}, claimed), h("dt", {}, "Here"), h("dd", {}, found), h("dt", {}, "So"), h("dd", { class: "lesson-verdict" }, verdict))))),
      h("p", { class: "soft" }, "Remake the figures: ", h("code", {}, lesson.command))),
    h("p", {}, h("a", { class: "button", href: `#/new/${encodeURIComponent(name)}` }, "Play the game")),
  );
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) {
      seen.unobserve(target);
      [figure, ...experiments].find(({ element }) => element === target).run();
    }
  }, { rootMargin: "100px" });
  for (const { element } of [figure, ...experiments]) seen.observe(element);
  return () => {
    seen.disconnect();
    for (const leave of leaving) leave();
  };
}

/** An experiment: its settings as a form, and what it found. It runs when it comes into view and when a setting changes. */
class Experiment {
  constructor(lesson, { name, title, about, settings }) {
    this.lesson = lesson;
    this.path = `/learn/${lesson}/${name}`;
    this.name = name;
    this.values = Object.fromEntries(settings.map((setting) => [setting.name, setting.default]));
    this.picked = settings.find((setting) => setting.picked)?.name;
    this.asked = 0;
    this.step = 0;
    this.timer = 0;
    const boards = settings.filter((setting) => typeof setting.board === "string");
    const rest = settings.filter((setting) => typeof setting.board !== "string");
    this.status = h("p", { class: "lesson-result", role: "status" }, "…");
    this.controls = h("div", { class: "lesson-steps", hidden: true });
    this.panels = h("div", { class: "lesson-panels" });
    this.table = h("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": `${title}, table`, hidden: true });
    const form = h("form", { class: "lesson-form", onsubmit: (event) => { event.preventDefault(); this.run(); } },
      h("div", { class: "lesson-fields" }, rest.map((setting) => this.field(setting))),
      boards.map((setting) => this.boardField(setting)));
    this.element = h("section", { class: "lesson-experiment" }, h("h2", {}, title), h("p", { class: "lesson-about" }, about),
      h("div", { class: boards.length ? "lesson-beside" : "" }, settings.length ? form : null, h("div", { class: "lesson-outcome" }, this.status, this.controls, this.panels, this.table)));
  }

  close() {
    clearInterval(this.timer);
    this.asked = -1;
  }

  change(name, value) {
    this.values[name] = value;
    this.run();
  }

  id(name) {
    return `${this.name}-${name}`;
  }

  field({ name, kind, about, choices, low, high, step, log, picked }) {
    const id = this.id(name);
    const note = h("span", { class: "soft small-text", id: `${id}-note` }, about);
    const labelled = (input, extra) => h("div", { class: "lesson-field" }, h("label", { for: id }, words(name)), input, extra, note);
    if (kind === "switch") {
      const input = h("input", { type: "checkbox", id, "aria-describedby": note.id, onchange: () => this.change(name, input.checked) });
      input.checked = this.values[name];
      return labelled(input);
    }
    if (kind === "choice") {
      const input = options(h("select", { id, "aria-describedby": note.id, onchange: () => this.change(name, input.value) }), choices, String(this.values[name]));
      return labelled(input);
    }
    if (picked) {
      this.pickInput = h("input", { type: "number", id, min: low, max: high, step: 1, value: this.values[name], "aria-describedby": note.id, onchange: () => this.pickInput.reportValidity() && this.change(name, Number(this.pickInput.value)) });
      return labelled(this.pickInput);
    }
    // On a logarithmic scale the places are 0 to 1000, and values have two digits.
    const toValue = (at) => (log ? Math.min(high, Math.max(low, Math.round(Number((low * (high / low) ** (at / 1000)).toPrecision(2))))) : at);
    const toPlace = (value) => (log ? (1000 * Math.log(value / low)) / Math.log(high / low) : value);
    const shown = h("output", { for: id });
    const input = h("input", { type: "range", id, min: log ? 0 : low, max: log ? 1000 : high, step: log ? 1 : step ?? 1, "aria-describedby": note.id });
    const show = () => {
      const value = toValue(Number(input.value));
      shown.textContent = value.toLocaleString("en");
      input.setAttribute("aria-valuetext", shown.textContent);
      return value;
    };
    input.value = toPlace(this.values[name]);
    show();
    input.addEventListener("input", show);
    input.addEventListener("change", () => this.change(name, show()));
    return labelled(input, shown);
  }

  /** A position to set up: touch the board, or write it. */
  boardField({ name, about, board: variant }) {
    const id = this.id(name);
    const place = h("div", { class: "lesson-board" });
    const note = h("p", { class: "soft small-text", id: `${id}-note`, role: "status" }, about);
    const text = h("textarea", { id, rows: 2, spellcheck: "false", "aria-describedby": note.id });
    const piece = h("select", { id: `${id}-piece` });
    const palette = h("div", { class: "lesson-palette", hidden: true }, h("label", { for: piece.id }, "Touch the board to put there"), piece);
    const look = async (change = {}) => {
      const seen = await post("/preview", { game: this.lesson, variant: variant || null, position: text.value.trim() || null, ...change });
      if (seen.svg) place.replaceChildren(drawing(seen.svg, `The position: ${seen.position}`));
      if (change.piece && seen.position) text.value = seen.position;
      if (piece.options.length !== Object.keys(seen.pieces).length) options(piece, Object.keys(seen.pieces), null, (key) => seen.pieces[key]);
      palette.hidden = !piece.options.length;
      note.textContent = seen.problem ?? about;
      note.classList.toggle("wrong", Boolean(seen.problem));
      if (!seen.problem && this.values[name] !== seen.position) this.change(name, seen.position);
    };
    place.addEventListener("click", (event) => {
      const cell = event.target.closest("[data-cell]")?.dataset.cell;
      if (cell !== undefined && piece.value) look({ cell: Number(cell), piece: piece.value });
    });
    text.value = this.values[name];
    text.addEventListener("change", () => look());
    look();
    return h("div", { class: "lesson-setup" }, place, palette, h("label", { for: id }, words(name)), text, note);
  }

  async run() {
    const mine = (this.asked += 1);
    this.element.setAttribute("aria-busy", "true");
    try {
      const outcome = await post(this.path, { settings: this.values });
      if (mine === this.asked) this.show(outcome);
    } catch (error) {
      if (mine !== this.asked) return;
      this.stop();
      this.status.textContent = `${error.message[0].toUpperCase()}${error.message.slice(1)}.`;
    }
    if (mine === this.asked) this.element.removeAttribute("aria-busy");
  }

  show({ text, panels, steps, step_name: stepName, columns, rows }) {
    const same = steps === this.steps;
    this.stop();
    this.status.textContent = text;
    this.steps = steps;
    this.shown = panels.map((panel) => new Panel(panel, steps));
    this.panels.replaceChildren(...this.shown.map((panel) => panel.element));
    for (const panel of this.shown) {
      panel.element.classList.toggle("lesson-pickable", Boolean(this.picked));
      if (this.picked) panel.element.addEventListener("click", (event) => this.pick(event));
    }
    this.table.replaceChildren(rows.length ? h("table", { class: "lesson-table" }, h("thead", {}, h("tr", {}, columns.map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))) : "");
    this.table.hidden = !rows.length;
    this.controls.hidden = steps < 2;
    if (!same || this.step >= steps) this.step = 0;
    if (steps > 1) this.stepControls(stepName);
    this.go(this.step);
    if (!same && steps > 1 && !matchMedia("(prefers-reduced-motion: reduce)").matches) this.play();
  }

  stepControls(name) {
    this.play_ = h("button", { type: "button", onclick: () => (this.timer ? this.stop() : this.play()) }, "Play");
    this.slider = h("input", { type: "range", min: 0, max: this.steps - 1, step: 1, "aria-label": `Which ${name} to show`, oninput: () => { this.stop(); this.go(Number(this.slider.value)); } });
    this.where = h("output", {});
    this.stepName = name;
    this.controls.replaceChildren(this.play_, h("button", { type: "button", class: "quiet", onclick: () => { this.stop(); this.go(Math.max(0, this.step - 1)); } }, "Back"),
      h("button", { type: "button", class: "quiet", onclick: () => { this.stop(); this.go(Math.min(this.steps - 1, this.step + 1)); } }, "Next"), this.slider, this.where);
  }

  play() {
    if (this.step >= this.steps - 1) this.go(0);
    this.play_.textContent = "Pause";
    this.timer = setInterval(() => {
      if (this.step >= this.steps - 1) this.stop();
      else this.go(this.step + 1);
    }, Math.max(120, Math.min(900, 12000 / this.steps)));
  }

  stop() {
    clearInterval(this.timer);
    this.timer = 0;
    if (this.play_) this.play_.textContent = "Play";
  }

  go(step) {
    this.step = step;
    for (const panel of this.shown) panel.go(step);
    if (this.steps < 2) return;
    this.slider.value = step;
    this.where.textContent = `${this.stepName} ${step + 1} of ${this.steps}`;
    this.slider.setAttribute("aria-valuetext", this.where.textContent);
  }

  pick(event) {
    const cell = event.target.closest("[data-cell]")?.dataset.cell;
    if (cell === undefined) return;
    this.stop();
    this.pickInput.value = cell;
    this.change(this.picked, Number(cell));
  }
}

/** A drawing with cells of a readable size, and not larger. */
function sized(svg) {
  svg.style.maxWidth = `${46 * svg.viewBox.baseVal.width}px`;
  return svg;
}

/** A drawing that may change with the step, or a chart that grows. */
class Panel {
  constructor({ title, svgs, notes, chart, wide }, steps) {
    this.svgs = svgs;
    this.notes = notes;
    this.chart = chart;
    this.steps = steps;
    this.title = title;
    this.drawn = new Map();
    this.place = h("div", { class: "lesson-drawing", tabindex: wide && !chart ? 0 : null, role: "group", "aria-label": title });
    this.note = h("figcaption", {});
    this.element = h("figure", { class: wide ? "lesson-panel wide" : "lesson-panel" }, h("h3", {}, title), this.place, this.note);
  }

  go(step) {
    if (this.chart) this.place.replaceChildren(lines(this.chart, (step + 1) / this.steps, this.place.clientWidth));
    else if (this.svgs.length) {
      const at = Math.min(step, this.svgs.length - 1);
      if (!this.drawn.has(at)) this.drawn.set(at, sized(drawing(this.svgs[at], this.title)));
      const svg = this.drawn.get(at);
      for (const part of svg.querySelectorAll("[data-step]")) part.classList.toggle("lesson-later", Number(part.dataset.step) > step);
      if (this.place.firstChild !== svg) this.place.replaceChildren(svg);
    }
    this.note.textContent = this.notes[Math.min(step, this.notes.length - 1)] ?? "";
  }
}
