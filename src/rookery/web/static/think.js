// What agents think of every move, two of them side by side, and why.

import { stream } from "./api.js";
import { drawing, h, options } from "./dom.js";
import { offer, openedMore, playerName } from "./players.js";

export class Thoughts {
  constructor(page) {
    this.page = page;
    const { view } = page;
    this.on = h("input", { type: "checkbox", id: "think" });
    this.agent = h("select", { id: "think-agent" });
    this.other = h("select", { id: "think-other" });
    this.layer = h("select", { id: "think-layer" });
    const strongest = [...view.opponents.map((row) => row.agent).reverse(), ...view.agents];
    this.chosen = { agent: strongest.find((name) => name !== view.exact) ?? strongest[0], other: view.exact ?? "" };
    this.note = h("p", { class: "soft", role: "status" });
    this.stop = h("button", { type: "button", class: "warn", hidden: true, onclick: () => this.cancel() }, "Stop thinking");
    this.problem = h("p", { class: "soft small-text" });
    this.boards = h("div", { class: "boards" });
    this.table = h("div", { class: "values", role: "region", "aria-label": "Values of the moves", tabindex: 0 });
    this.why = h("div", { class: "why" });
    this.found = {}; // what both said about the position that is shown
    this.aborts = [];
    this.on.addEventListener("change", () => this.update());
    for (const place of ["agent", "other"]) {
      this[place].addEventListener("change", () => {
        if (openedMore(this[place], this.page.view, this.chosen[place], false)) {
          if (place === "other") this.offerNobody();
          return;
        }
        this.chosen[place] = this[place].value;
        this.offer();
        this.update();
      });
    }
    this.layer.addEventListener("change", () => this.page.draw());
    const field = (text, input) => h("div", { class: "field" }, h("label", { for: input.id }, text), input);
    this.settings = h("div", { class: "think-settings" }, field("Agent", this.agent), field("Beside", this.other), field("On the board", this.layer));
    this.element = h("div", {},
      h("div", { class: "check" }, this.on, h("label", { for: "think" }, "Show what it thinks")),
      this.settings, this.note, this.stop, this.table, this.problem, this.boards, this.why);
    this.offer();
  }

  name(agent) {
    const { view } = this.page;
    return agent === view.exact ? "Exact" : playerName(agent, view.opponents);
  }

  offer() {
    const { view } = this.page;
    offer(this.agent, view, this.chosen.agent, false);
    offer(this.other, view, this.chosen.other, false);
    this.offerNobody();
    const before = this.layer.value || (view.exact ? "other" : "agent"); // the truth, where it is known
    const words = { agent: this.name(this.chosen.agent), other: this.chosen.other && this.name(this.chosen.other), none: "Nothing" };
    const layers = ["agent", ...(this.chosen.other ? ["other"] : []), "none"];
    options(this.layer, layers, layers.includes(before) ? before : "agent", (value) => words[value]);
  }

  /** The second agent may be nobody; the exact one is offered by that name. */
  offerNobody() {
    const { exact } = this.page.view;
    for (const option of this.other.options) if (option.value === exact) option.textContent = "Exact answer";
    const nobody = h("option", { value: "" }, "Nobody");
    nobody.selected = !this.chosen.other;
    this.other.prepend(nobody);
  }

  /** What was said about the position that is shown, and is to be seen on the board. */
  shown() {
    if (!this.on.checked || this.layer.value === "none") return null;
    const { agent, other } = this.found;
    const thought = this.layer.value === "other" && other?.values ? other : agent;
    return thought?.position === this.page.view.position ? thought : null;
  }

  overlay() {
    return this.shown()?.values_svg ?? null;
  }

  /** What every move is worth, for who points at it. */
  words() {
    return new Map((this.shown()?.values ?? []).map((row) => [row.action, row.words]));
  }

  cancel() {
    for (const abort of this.aborts) abort.abort();
    this.aborts = [];
    this.stop.hidden = true;
    this.note.textContent = "";
  }

  update() {
    this.cancel();
    this.found = {};
    this.show();
    const { view } = this.page;
    this.settings.hidden = !this.on.checked;
    if (!this.on.checked) {
      this.note.textContent = "Every move with its value, on the board and in a list, by any agent; two of them side by side.";
      this.page.draw();
      return;
    }
    if (view.turn === "over") {
      this.note.textContent = "The game is over.";
      return;
    }
    this.ask("agent", this.chosen.agent);
    if (this.chosen.other && this.chosen.other !== this.chosen.agent) this.ask("other", this.chosen.other);
  }

  async ask(place, agent) {
    const abort = new AbortController();
    this.aborts.push(abort);
    const { id, position } = this.page.view;
    this.stop.hidden = false;
    try {
      for await (const event of stream(`/plays/${id}/think`, { agent }, abort.signal)) {
        if (abort.signal.aborted) return;
        if (event.event === "waiting") this.note.textContent = `${this.name(agent)} is thinking: ${event.seconds.toFixed(0)} s`;
        else if (event.event === "failed") this.found[place] = { ...this.found[place], error: event.error }; // what it had stays
        else {
          this.found[place] = { ...event, position };
          this.note.textContent = event.final ? "" : `${this.name(agent)} so far …`;
        }
        if (event.event !== "waiting") this.show();
        if (event.event === "thought") this.page.draw();
      }
    } catch (error) {
      if (error.name !== "AbortError") this.found[place] = { error: error.message };
      this.show();
    }
    this.aborts = this.aborts.filter((other) => other !== abort);
    this.stop.hidden = this.aborts.length === 0;
    if (!this.aborts.length) this.note.textContent = "";
  }

  show() {
    const { agent, other } = this.found;
    this.table.replaceChildren();
    this.boards.replaceChildren();
    this.why.replaceChildren();
    if (agent?.error) this.table.append(h("p", { class: "wrong" }, `${agent.error}.`));
    if (agent?.values) {
      this.table.append(table(agent, this.name(agent.agent), other?.values ? other : null, other?.agent && this.name(other.agent)));
      if (other?.values) {
        for (const one of [agent, other]) {
          this.boards.append(h("figure", {}, drawing(one.values_svg, `The values of ${this.name(one.agent)}`), h("figcaption", {}, `${this.name(one.agent)}: ${one.name}`)));
        }
      }
      this.why.append(...[h("h2", {}, "Why"), reasons(agent.reasons),
        h("div", { class: "drawings" },
          agent.why_svg ? h("figure", {}, drawing(agent.why_svg, `What ${this.name(agent.agent)} looks at`)) : null,
          agent.drawings.map(({ svg, title }) => h("figure", {}, drawing(svg, title), h("figcaption", {}, title))))].flat());
    }
    const known = this.chosen.other === this.page.view.exact ? "No exact answer here" : "No answer";
    this.problem.textContent = other?.error && agent?.values ? `${known}: ${other.error}.` : "";
  }

  close() {
    this.cancel();
  }
}

function table(agent, name, other, otherName) {
  const columns = [agent, other].filter(Boolean).map((one) => {
    const values = one.values.map((row) => row.value);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return { low, high, rows: new Map(one.values.map((row) => [row.action, row])) };
  });
  const cell = ({ low, high, rows }, action) => {
    const row = rows.get(action);
    if (!row) return h("td", {});
    const bar = h("span", { class: "bar", "aria-hidden": "true" });
    const share = high === low ? 1 : (row.value - low) / (high - low);
    bar.style.setProperty("--share", `${100 * share}%`);
    bar.style.setProperty("--level", Math.min(4, Math.floor(5 * share)));
    bar.dataset.level = Math.min(4, Math.floor(5 * share));
    return h("td", { class: row.value === high ? "right" : null, title: String(row.value) }, bar, h("span", {}, row.words));
  };
  const rows = agent.values.map((row) => h("tr", { class: row.action === agent.action ? "chosen" : null },
    h("th", { scope: "row" }, row.name), columns.map((column) => cell(column, row.action))));
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Move"), h("th", { scope: "col" }, name),
      other ? h("th", { scope: "col" }, otherName) : null)),
    h("tbody", {}, rows));
}

/** The first few reasons, and the rest on demand. */
function reasons(texts) {
  const items = (some) => some.map((text) => h("li", {}, text));
  if (texts.length <= 7) return h("ul", {}, items(texts));
  return [h("ul", {}, items(texts.slice(0, 6))), h("details", {}, h("summary", {}, `${texts.length - 6} more`), h("ul", {}, items(texts.slice(6))))];
}
