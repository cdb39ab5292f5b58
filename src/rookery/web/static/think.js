// What agents think of every move, beside the exact answer, and why.

import { stream } from "./api.js";
import { agentName, drawing, h, options, short } from "./dom.js";

export class Thoughts {
  constructor(page) {
    this.page = page;
    const { view } = page;
    this.on = h("input", { type: "checkbox", id: "think" });
    this.agent = options(h("select", { id: "think-agent" }), view.agents, view.agents[0], agentName);
    const layers = ["agent", ...(view.exact ? ["exact"] : []), "none"];
    const words = { agent: "this agent's values", exact: "the exact values", none: "nothing" };
    this.layer = options(h("select", { id: "think-layer" }), layers, "agent", (value) => words[value]);
    this.note = h("p", { class: "soft", role: "status" });
    this.stop = h("button", { type: "button", class: "warn", hidden: true, onclick: () => this.cancel() }, "Stop thinking");
    this.exact = h("p", { class: "soft small-text" });
    this.table = h("div", { class: "values", role: "region", "aria-label": "Values of the moves", tabindex: 0 });
    this.why = h("div", { class: "why" });
    this.found = {}; // what the agent and the exact one said about the position that is shown
    this.aborts = [];
    this.on.addEventListener("change", () => this.update());
    this.agent.addEventListener("change", () => this.update());
    this.layer.addEventListener("change", () => this.page.draw());
    this.element = h("div", {},
      h("div", { class: "check" }, this.on, h("label", { for: "think" }, "Show what it thinks")),
      h("div", { class: "field" }, h("label", { for: "think-agent" }, "Agent"), this.agent),
      h("div", { class: "field" }, h("label", { for: "think-layer" }, "On the board"), this.layer),
      this.note, this.stop, this.table, this.exact, this.why);
  }

  offer(agents) {
    options(this.agent, agents, this.agent.value, agentName);
  }

  /** The drawing of the board with values on it, if they are asked for and known. */
  overlay() {
    if (!this.on.checked || this.layer.value === "none") return null;
    const thought = this.found[this.layer.value];
    return thought?.position === this.page.view.position ? thought.values_svg : null;
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
    if (!this.on.checked) {
      this.page.draw();
      return;
    }
    if (view.turn === "over") {
      this.note.textContent = "The game is over.";
      return;
    }
    this.ask("agent", this.agent.value);
    if (view.exact && this.agent.value !== view.exact) this.ask("exact", view.exact);
  }

  async ask(place, agent) {
    const abort = new AbortController();
    this.aborts.push(abort);
    const { id, position } = this.page.view;
    this.stop.hidden = false;
    try {
      for await (const event of stream(`/plays/${id}/think`, { agent }, abort.signal)) {
        if (abort.signal.aborted) return;
        if (event.event === "waiting") this.note.textContent = `${agentName(agent)} is thinking: ${event.seconds.toFixed(0)} s`;
        else if (event.event === "failed") this.found[place] = { ...this.found[place], error: event.error }; // what it had stays
        else {
          this.found[place] = { ...event, position };
          this.note.textContent = event.final ? "" : `${agentName(event.agent)} so far …`;
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
    const { agent, exact: truth } = this.found;
    this.table.replaceChildren();
    this.why.replaceChildren();
    if (agent?.error) this.table.append(h("p", { class: "wrong" }, `${agent.error}.`));
    if (agent?.values) {
      const exact = new Map((truth?.values ?? []).map((row) => [row.action, row.value]));
      this.table.append(table(agent, exact));
      this.why.append(...[h("h2", {}, "Why"), reasons(agent.reasons),
        h("div", { class: "drawings" },
          agent.why_svg ? h("figure", {}, drawing(agent.why_svg, `What ${agentName(agent.agent)} looks at`)) : null,
          agent.drawings.map(({ svg, title }) => h("figure", {}, drawing(svg, title), h("figcaption", {}, title))))].flat());
    }
    this.exact.textContent = truth?.error && agent?.values ? `No exact answer here: ${truth.error}.` : "";
  }

  close() {
    this.cancel();
  }
}

function table(agent, exact) {
  const values = agent.values.map((row) => row.value);
  const low = Math.min(...values);
  const range = Math.max(...values) - low || 1;
  const best = Math.max(...exact.values());
  const rows = agent.values.map((row) => {
    const bar = h("span", { class: "bar", "aria-hidden": "true" });
    bar.style.setProperty("--share", `${(100 * (row.value - low)) / range}%`);
    const truth = exact.get(row.action);
    return h("tr", { class: row.action === agent.action ? "chosen" : null },
      h("th", { scope: "row" }, row.name),
      h("td", {}, bar, h("span", {}, short(row.value))),
      exact.size ? h("td", { class: truth === best ? "right" : null }, truth === undefined ? "" : short(truth)) : null);
  });
  return h("table", {},
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Move"), h("th", { scope: "col" }, agentName(agent.agent)),
      exact.size ? h("th", { scope: "col" }, "Exact") : null)),
    h("tbody", {}, rows));
}

/** The first few reasons, and the rest on demand. */
function reasons(texts) {
  const items = (some) => some.map((text) => h("li", {}, text));
  if (texts.length <= 7) return h("ul", {}, items(texts));
  return [h("ul", {}, items(texts.slice(0, 6))), h("details", {}, h("summary", {}, `${texts.length - 6} more`), h("ul", {}, items(texts.slice(6))))];
}
