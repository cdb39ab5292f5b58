// A game looked at again: the value after every move as a graph, and the worst moves.

import { stream } from "./api.js";
import { h, s } from "./dom.js";

const WIDTH = 600;
const HEIGHT = 200;
const EDGE = 10;

export class Review {
  constructor(page) {
    this.page = page;
    this.rows = [];
    this.worst = null;
    this.listed = null; // of what the list was made
    this.abort = null;
    this.button = h("button", { type: "button", class: "main", onclick: () => this.run() }, "Review this game");
    this.stop = h("button", { type: "button", class: "warn", hidden: true, onclick: () => this.abort?.abort() }, "Stop");
    this.note = h("p", { class: "soft", role: "status" });
    this.graph = h("div", { class: "graph" });
    this.here = h("p", { class: "review-here" });
    this.list = h("ol", { class: "worst" });
    this.element = h("div", {}, h("div", { class: "row" }, this.button, this.stop), this.note, this.graph, this.here, this.list);
    this.update();
  }

  /** The review is of the game as it was; another game needs another one. */
  update() {
    const { view } = this.page;
    const game = JSON.stringify([view.length, view.history.at(-1)?.name]);
    if (this.game !== game && !this.abort) {
      if (this.game !== undefined && this.rows.length) this.note.textContent = "The game has changed since.";
      this.game = game;
    }
    this.button.disabled = view.length === 0 || this.abort !== null;
    if (!this.rows.length && !this.abort) {
      this.note.textContent = view.length ? "Every move beside the best one: a graph of the value, and the three worst moves." : "Play first; then look at every move again.";
    }
    this.draw();
  }

  async run() {
    if (this.abort) return;
    this.abort = new AbortController();
    this.rows = [];
    this.worst = null;
    this.stop.hidden = false;
    this.button.disabled = true;
    let problem = "";
    try {
      for await (const row of stream(`/plays/${this.page.view.id}/review`, {}, this.abort.signal)) {
        if (row.event === "failed") problem = `${row.error}.`;
        else if (row.worst) this.worst = row.worst;
        else if (row.event === "review") {
          this.rows.push(row);
          this.note.textContent = `Looking at the moves: ${Math.round(100 * row.done_share)}%`;
        }
        this.draw();
      }
    } catch (error) {
      if (error.name !== "AbortError") problem = `${error.message}.`;
    }
    this.abort = null;
    this.worst ??= this.worstSoFar();
    this.stop.hidden = true;
    this.button.disabled = false;
    this.button.textContent = "Review again";
    this.note.textContent = problem || this.source();
    this.draw();
  }

  /** The worst moves of a review that was stopped. */
  worstSoFar() {
    const { players } = this.page.view;
    const mine = (row) => !players.includes("person") || players[row.player] === "person";
    const bad = this.rows.filter((row) => mine(row) && row.loss > 1e-9).sort((a, b) => b.loss - a.loss).slice(0, 3);
    return this.rows.length ? bad.map(({ ply, name, words, best, best_words: better }) => ({ ply, kind: "slower", text: `${name}: ${words}. Better was ${best}: ${better}.` })) : null;
  }

  /** Who says so. */
  source() {
    if (!this.rows.length) return "";
    const exact = this.rows.filter((row) => row.exact).length;
    const who = exact === this.rows.length ? "By the exact answer." : exact ? `Exact from the move where the answer is known (${exact} of ${this.rows.length} moves); before that, the estimate of the strongest agent.` : "By the estimate of the strongest agent.";
    const { step } = this.rows[0];
    return step > 1 ? `${who} One move in ${step} was looked at.` : who;
  }

  draw() {
    const { view } = this.page;
    this.graph.replaceChildren();
    this.here.textContent = "";
    if (this.rows.length) this.graph.append(this.picture());
    const now = this.rows.findLast((row) => row.ply <= view.ply);
    if (now && now.ply >= view.ply - 1) {
      const better = now.loss > 1e-9 ? ` Better: ${now.best} (${now.best_words}).` : " Nothing was better.";
      this.here.textContent = `${now.name}: ${now.words}.${better}`;
    }
    if (this.listed === this.worst) return; // who is on the list stays there
    this.listed = this.worst;
    this.list.replaceChildren();
    if (!this.worst) return;
    if (!this.worst.length) this.list.append(h("li", { class: "verdict good" }, "No move could have been better."));
    for (const { ply, text, kind } of this.worst) {
      const row = view.history.find((move) => move.ply === ply);
      this.list.append(h("li", { class: `verdict ${kind}` },
        h("button", { type: "button", class: "quiet", onclick: () => this.page.pauseAt(() => ply) }, row ? `Move ${row.turn}` : `Ply ${ply}`), h("span", {}, text)));
    }
  }

  /** The value of the first player, or of the only one, after every move. */
  picture() {
    const two = this.page.view.sides.length === 2;
    const values = this.rows.map((row) => row.value);
    const sorted = [...values].sort((a, b) => a - b);
    const within = (share) => sorted[Math.round(share * (sorted.length - 1))];
    let [low, high] = two ? [Math.min(-1, within(0.02)), Math.max(1, within(0.98))] : [within(0.02), within(0.98)];
    if (low === high) [low, high] = [low - 1, high + 1];
    const x = (i) => EDGE + (this.rows.length === 1 ? 0.5 : i / (this.rows.length - 1)) * (WIDTH - 2 * EDGE);
    const y = (value) => HEIGHT - EDGE - ((Math.min(high, Math.max(low, value)) - low) / (high - low)) * (HEIGHT - 2 * EDGE);
    const zero = y(two ? 0 : low);
    const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    const label = two ? `The value for ${this.page.view.sides[0]} after each of ${values.length} moves` : `The value after each of ${values.length} moves`;
    const svg = s("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
    svg.append(
      s("polygon", { points: `${x(0)},${zero} ${points} ${x(values.length - 1)},${zero}`, class: "graph-area" }),
      s("line", { x1: EDGE, x2: WIDTH - EDGE, y1: zero, y2: zero, class: "graph-zero" }),
      s("polyline", { points, class: "graph-line" }));
    const bad = new Set((this.worst ?? []).map(({ ply }) => ply));
    this.rows.forEach((row, i) => {
      if (bad.has(row.ply)) svg.append(s("circle", { cx: x(i), cy: y(row.value), r: 7, class: "graph-bad" }));
    });
    const here = this.rows.findLastIndex((row) => row.ply <= this.page.view.ply);
    if (here >= 0) svg.append(s("line", { x1: x(here), x2: x(here), y1: 0, y2: HEIGHT, class: "graph-here" }));
    svg.addEventListener("click", (event) => {
      const share = (event.clientX - svg.getBoundingClientRect().left) / svg.getBoundingClientRect().width;
      const i = Math.round(((share * WIDTH - EDGE) / (WIDTH - 2 * EDGE)) * (this.rows.length - 1));
      const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, i))];
      this.page.pauseAt(() => row.ply);
    });
    const ends = two ? [`${this.page.view.sides[0]} wins`, `${this.page.view.sides[1]} wins`] : [];
    return h("figure", {}, ends.length ? h("figcaption", {}, ends[0]) : null, svg, ends.length ? h("figcaption", {}, ends[1]) : null);
  }

  close() {
    this.abort?.abort();
  }
}
