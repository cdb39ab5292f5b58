// One game: the board, whose turn it is, hints, what agents think and why.

import { get, post, stream } from "./api.js";
import { Board } from "./board.js";
import { agentName, copy, h, options, toast } from "./dom.js";
import { start } from "./home.js";
import { Thoughts } from "./think.js";

export async function playPage(place, query, id) {
  const [view, { query: token }] = await Promise.all([get(`/plays/${id}`), get("/address")]);
  const page = new PlayPage(view, token);
  place.append(page.element);
  page.update(page.view);
  return () => page.close();
}

class PlayPage {
  constructor(view, token) {
    this.view = view;
    this.token = token; // what an address needs so that others can open it
    this.board = new Board((action) => this.move(action));
    this.running = false; // of agents that play by themselves
    this.runs = 0; // how often they were let run, so that only the last time counts
    this.held = false; // an agent that was stopped waits until it is asked again
    this.abort = null;
    this.last = Promise.resolve(); // what was sent last
    this.changes = 0; // by the person, so that what came too late is not shown
    this.lit = [];
    this.hintStage = 0;
    const one = view.sides.length === 1;

    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" });
    this.verdict = h("p", { class: "verdict", role: "status", "aria-live": "polite", hidden: true });
    this.seats = view.sides.map((side, i) => {
      const select = options(h("select", { id: `seat-${i}` }), known(view, i), view.players[i], agentName);
      select.addEventListener("change", () => this.seat());
      return select;
    });
    this.coach = h("input", { type: "checkbox", id: "coach" });
    this.coach.checked = Boolean(view.exact);
    this.coach.addEventListener("change", () => { this.wanted = true; }); // asked for, and not only the default

    // A symbol needs a name; words are one.
    const button = (name, label, act, classes = "") => h("button", { type: "button", class: classes, "aria-label": /[a-z]/.test(name) ? null : label, title: label, onclick: act }, name);
    this.undo = button("↶ Undo", "Take back", () => this.goTo((view) => view.undo));
    this.redo = button("↷ Redo", "Play again what was taken back", () => this.goTo((view) => view.redo));
    this.hintButton = button("Hint", "A hint; more with every press", () => this.hint());
    this.flipButton = button("⇅ Flip", "Turn the board round", () => {
      this.board.flip(!this.board.flipped);
      this.draw();
    });
    this.stop = button("Stop", "Stop the agent", () => {
      this.held = true;
      this.running = false;
      this.abort?.abort();
    }, "warn");
    this.go = button("Let it move", "Let the agent move", () => this.reply());
    this.again = button("New game", "Another game of this kind", () => {
      const { game, variant, players, about } = this.view;
      start({ game, variant, players, puzzle: about.puzzle ?? null });
    });
    this.hintBox = h("div", { class: "hint", role: "status", "aria-live": "polite", hidden: true });

    this.playPause = button("Run", "Let the agents play", () => this.toggle(), "main");
    this.speed = h("input", { type: "range", id: "speed", min: 0, max: 6, step: 1, value: 3 });
    this.watchBar = h("div", { class: "row watch" },
      button("Start", "To the beginning", () => this.pauseAt(() => 0)),
      button("Back", "One step back", () => this.pauseAt((view) => view.undo ?? 0)),
      this.playPause,
      button("Step", "One step on", () => this.step()),
      h("label", { for: "speed" }, "Speed"), this.speed);

    this.legalList = h("ul", { class: "moves", "aria-label": "Legal moves" });
    this.history = h("ol", { class: "history", "aria-label": "Moves played" });
    this.thoughts = new Thoughts(this);
    this.notation = h("textarea", { id: "notation", rows: 2, readonly: true, spellcheck: "false" });

    const tools = h("div", { class: "row tools", role: "group", "aria-label": "Tools" }, this.undo, this.redo, this.hintButton, one ? null : this.flipButton, this.go, this.stop, this.again);
    const name = view.variant ? `${view.title} ${view.variant}` : view.title;
    const about = view.about.day ? `Puzzle of ${view.about.day}` : view.about.puzzle ? `${view.about.puzzle} puzzle` : "";
    this.element = h("div", { class: "play" },
      h("div", { class: "play-head" },
        h("h1", {}, name, about ? h("span", { class: "soft" }, ` ${about}`) : null),
        h("div", { class: "seats" }, this.seats.map((select, i) => h("div", { class: "field" },
          h("label", { for: select.id }, one ? "Player" : view.sides[i]), select)))),
      this.status,
      this.board.element,
      h("div", { class: "play-tools" }, tools, this.watchBar),
      h("div", { class: "play-notes" }, this.board.picker, this.verdict, this.hintBox), // below the tools, so that they stay where they are
      h("div", { class: "play-side" }, this.tabs({
        Moves: h("div", {},
          view.exact ? h("div", { class: "check" }, this.coach, h("label", { for: "coach" }, "Tell me when a move goes wrong")) : null,
          h("h2", {}, "Played"), this.history,
          h("h2", {}, "Legal moves"), this.legalList),
        "What it thinks": this.thoughts.element,
        Position: this.positionPanel(),
      })));
    this.element.addEventListener("keydown", (event) => this.shortcut(event));
  }

  tabs(panels) {
    const names = Object.keys(panels);
    const id = (name) => name.toLowerCase().replaceAll(" ", "-");
    const buttons = names.map((name) => h("button", {
      type: "button", role: "tab", id: `tab-${id(name)}`, "aria-controls": `panel-${id(name)}`, onclick: () => choose(name),
    }, name));
    const boxes = names.map((name) => h("div", { role: "tabpanel", id: `panel-${id(name)}`, "aria-labelledby": `tab-${id(name)}` }, panels[name]));
    const choose = (chosen) => names.forEach((name, i) => {
      buttons[i].setAttribute("aria-selected", name === chosen);
      buttons[i].tabIndex = name === chosen ? 0 : -1;
      boxes[i].hidden = name !== chosen;
    });
    const list = h("div", { role: "tablist", "aria-label": "About this game" }, buttons);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (buttons.indexOf(document.activeElement) + step + names.length) % names.length;
      choose(names[next]);
      buttons[next].focus();
    });
    choose(names[0]);
    return [list, ...boxes];
  }

  positionPanel() {
    const { game, variant } = this.view;
    const link = () => {
      const query = new URLSearchParams({ ...(variant ? { variant } : {}), position: this.view.position });
      return `#/new/${encodeURIComponent(game)}?${query}`;
    };
    const address = (link) => `${location.origin}${location.pathname}${this.token}${link}`;
    const record = () => get(`/plays/${this.view.id}/record`);
    const button = (name, act) => h("button", { type: "button", onclick: act }, name);
    return h("div", {},
      h("div", { class: "field" }, h("label", { for: "notation" }, "This position"), this.notation),
      h("div", { class: "row" },
        button("Copy position", () => copy(this.view.position, "Position")),
        button("Copy link", () => copy(address(link()), "Link")),
        button("Share game", () => copy(address(location.hash), "Link to this game")),
        button("Copy game", async () => copy((await record()).text, "Game")),
        button("Save game", async () => save(await record())),
        button("Set up from here", () => { location.href = link(); })));
  }

  /** Show what the server sent, and let an agent move if it is its turn. */
  update(view) {
    const moved = view.ply !== this.view.ply || view.position !== this.view.position;
    const others = view.agents.join() !== this.view.agents.join(); // not every agent can play every position
    this.view = view;
    if (others) {
      this.seats.forEach((select, i) => options(select, known(view, i), view.players[i], agentName));
      this.thoughts.offer(view.agents);
    }
    if (moved) {
      this.lit = [];
      this.hintStage = 0;
      this.hintBox.hidden = true;
    }
    this.draw();
    this.thoughts.update();
    if (view.turn !== "agent") this.running &&= view.turn !== "over";
    else if (view.players.includes("person") ? !this.held && (moved || view.length === view.ply) : this.running && view.redo === null) this.reply();
    this.buttons();
  }

  draw() {
    const { view } = this;
    const touchable = view.turn === "person" && !this.abort ? view.legal : [];
    this.board.show(this.thoughts.overlay() ?? view.svg, `${view.title}, ${view.status}: ${view.position}`, touchable, this.lit);
    this.status.textContent = [this.lastReply(), view.status].filter(Boolean).join(" ");
    this.notation.value = view.position;
    this.refocus ||= this.legalList.contains(document.activeElement);
    this.legalList.replaceChildren(...touchable.map((move) => h("li", {}, h("button", {
      type: "button", class: "move", onclick: () => this.move(move.action),
      onpointerenter: () => this.board.mark(move.preview ?? move.cells),
      onfocus: () => this.board.mark(move.preview ?? move.cells),
      onpointerleave: () => this.board.mark([]), onblur: () => this.board.mark([]),
    }, move.name))));
    if (this.refocus && touchable.length) {
      if (document.activeElement === document.body) this.legalList.querySelector("button").focus({ preventScroll: true });
      this.refocus = false;
    }
    if (!touchable.length) this.legalList.replaceChildren(h("li", { class: "soft" }, view.turn === "over" ? "The game is over." : "It is not your turn."));
    this.history.replaceChildren(...view.history.map((row) => h("li", {}, h("button", {
      type: "button", class: row.ply > view.ply ? "move later" : "move", "aria-current": row.ply === lastPly(view) ? "step" : null,
      onclick: () => this.pauseAt(() => row.ply),
    }, row.name))));
    if (view.history[0]?.ply > 2) this.history.prepend(h("li", { class: "soft" }, "…"));
    if (!view.history.length) this.history.replaceChildren(h("li", { class: "soft" }, "Nothing yet."));
    requestAnimationFrame(() => this.follow()); // the first drawing is not on the page yet
  }

  /** Scroll the list of moves to the one that led to what is shown. */
  follow() {
    const current = this.history.querySelector("[aria-current]");
    if (current) this.history.scrollTop = current.offsetTop - (this.history.clientHeight - current.offsetHeight) / 2;
  }

  /** What the agent has just played, for all to read and hear. */
  lastReply() {
    const { view } = this;
    const last = view.history.findLast((row) => row.ply <= view.ply);
    if (!last || view.sides.length === 1 || view.players[last.player] === "person" || !view.players.includes("person")) return "";
    return `${view.sides[last.player]} played ${last.name}.`;
  }

  buttons() {
    const { view } = this;
    const person = view.players.includes("person");
    this.undo.disabled = view.undo === null;
    this.redo.disabled = view.redo === null;
    this.undo.hidden = this.redo.hidden = !person;
    this.hintButton.hidden = !person;
    this.hintButton.disabled = view.turn !== "person";
    this.stop.hidden = !this.abort || !this.slow;
    this.go.hidden = !person || view.turn !== "agent" || Boolean(this.abort);
    this.again.hidden = view.turn !== "over";
    this.watchBar.hidden = person;
    this.playPause.textContent = this.running ? "Pause" : "Run";
    this.playPause.disabled = view.turn === "over" && view.redo === null;
  }

  /** Changes are made one after another, each to what the one before has left; `change` gives what to ask for, or null. */
  send(change) {
    const done = this.last.then(async () => {
      const asked = change();
      if (asked) this.update(await post(`/plays/${this.view.id}/${asked.what}`, asked.body));
    });
    this.last = done.catch(() => null);
    return done;
  }

  async move(action) {
    this.board.closePicker();
    const before = this.view.ply;
    this.held = false;
    await this.send(() => ({ what: "move", body: { action, ply: before } }));
    this.verdict.hidden = true;
    if (this.coach.checked && this.view.exact) this.judge(before + 1);
  }

  async judge(ply) {
    const { verdict, text } = await post(`/plays/${this.view.id}/judge`, { ply });
    this.verdict.textContent = verdict ? text : `No exact answer: ${text}.`;
    this.verdict.className = `verdict ${verdict ?? ""}`;
    this.verdict.hidden = !verdict && !this.wanted;
    this.coach.checked &&= Boolean(verdict);
  }

  /** To a number of moves played, which `where` takes from the view that is there when its turn comes. */
  async goTo(where) {
    if (where(this.view) === null) return;
    this.changes += 1;
    this.abort?.abort();
    this.verdict.hidden = true;
    await this.send(() => {
      const ply = where(this.view);
      return ply === null ? null : { what: "goto", body: { ply } };
    });
  }

  /** The agent whose turn it is thinks and moves. */
  async reply() {
    if (this.abort) return;
    this.held = false;
    const mine = (this.abort = new AbortController());
    const { changes } = this;
    this.slow = false;
    const who = agentName(this.view.players[this.view.player]);
    let next = null;
    this.draw();
    this.buttons();
    try {
      for await (const event of stream(`/plays/${this.view.id}/reply`, {}, mine.signal)) {
        if (event.event === "waiting") {
          this.slow = true;
          this.status.textContent = `${who} is thinking: ${event.seconds.toFixed(0)} s`;
          this.buttons();
        } else if (event.event === "failed") throw new Error(event.error);
        else next = event.view;
      }
    } catch (error) {
      if (error.name !== "AbortError") {
        this.running = false;
        toast(error.message);
      }
    }
    if (this.abort === mine) this.abort = null;
    // It may have moved just before it was stopped: the server knows.
    if (mine.signal.aborted && !this.closed && changes === this.changes) next = await get(`/plays/${this.view.id}`);
    else if (next && this.running) await this.pause();
    if (this.closed || changes !== this.changes) return;
    if (next) this.update(next);
    else {
      this.draw();
      this.buttons();
    }
  }

  pause() {
    const seconds = [4, 2, 1, 0.5, 0.2, 0.05, 0][this.speed.value];
    return new Promise((done) => setTimeout(done, 1000 * seconds));
  }

  toggle() {
    this.running = !this.running;
    this.buttons();
    if (this.running) this.run();
    else this.abort?.abort();
  }

  /** What was taken back is shown again first; with the last of it `update` lets the agents continue. */
  async run() {
    const mine = (this.runs += 1);
    if (this.view.redo === null && this.view.turn === "agent") this.reply();
    while (this.running && mine === this.runs && this.view.redo !== null) {
      await this.goTo((view) => view.redo);
      if (this.view.redo !== null) await this.pause();
    }
  }

  async pauseAt(where) {
    this.running = false;
    await this.goTo(where);
  }

  async step() {
    this.running = false;
    if (this.view.redo !== null) await this.goTo((view) => view.redo);
    else if (this.view.turn === "agent") await this.reply();
  }

  async seat() {
    this.changes += 1;
    this.abort?.abort();
    this.running = false;
    await this.send(() => ({ what: "players", body: { players: this.seats.map((select) => select.value) } }));
    if (this.view.turn === "agent" && this.view.players.includes("person")) this.reply();
  }

  async hint() {
    const { ply } = this.view;
    this.hintStage = Math.min(3, this.hintStage + 1);
    const told = await post(`/plays/${this.view.id}/hint`, { stage: this.hintStage });
    if (ply !== this.view.ply) return;
    this.hintBox.replaceChildren(...told.hints.map((text) => h("p", {}, text)));
    this.hintBox.classList.toggle("stuck", told.stuck);
    this.hintBox.hidden = false;
    this.lit = told.cells;
    this.draw();
  }

  shortcut(event) {
    if (!event.target.closest(".board") || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { u: () => this.goTo((view) => view.undo), r: () => this.goTo((view) => view.redo), h: () => this.hint(), f: () => this.flipButton.click() }[event.key];
    if (act) {
      event.preventDefault();
      act();
    }
  }

  close() {
    this.closed = true;
    this.running = false;
    this.abort?.abort();
    this.thoughts.close();
  }
}

function known(view, i) {
  const names = ["person", ...view.agents];
  return names.includes(view.players[i]) ? names : [view.players[i], ...names];
}

/** The ply of the move that led to what is shown: chance may have drawn since. */
function lastPly(view) {
  return view.history.findLast((row) => row.ply <= view.ply)?.ply;
}

function save({ text, file }) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
