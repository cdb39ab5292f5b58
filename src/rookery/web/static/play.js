// One game: the board between its players, the moves, hints, what agents think and why, and the end.

import { get, post, stream } from "./api.js";
import { Board, told } from "./board.js";
import { calm, clock, copy, figure, h, toast } from "./dom.js";
import { start } from "./home.js";
import { offer, openedMore, playerAbout } from "./players.js";
import { Review } from "./review.js";
import { setSound, sound, soundOn } from "./sound.js";
import { Thoughts } from "./think.js";

export async function playPage(place, _query, id) {
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
    this.board.onswipe = (dx, dy) => this.swipe(dx, dy);
    this.turnTowardsPerson();
    this.running = false; // of agents that play by themselves
    this.runs = 0; // how often they were let run, so that only the last time counts
    this.held = view.length > view.ply; // an agent that was stopped waits until it is asked again
    this.abort = null;
    this.last = Promise.resolve(); // what was sent last
    this.changes = 0; // by the person, so that what came too late is not shown
    this.lit = [];
    this.hintStage = 0;
    this.feats = new Set(view.feats); // those that were celebrated
    const one = view.sides.length === 1;

    this.status = h("p", { class: "status", role: "status", "aria-live": "polite" });
    this.verdict = h("p", { class: "verdict", role: "status", "aria-live": "polite", hidden: true });
    this.banner = h("section", { class: "banner", "aria-label": "Result", hidden: true });
    this.seats = view.sides.map((_side, i) => {
      const select = h("select", { id: `seat-${i}` });
      offer(select, view, view.players[i]);
      select.addEventListener("change", () => openedMore(select, this.view, this.view.players[i]) || this.seat());
      return select;
    });
    this.bars = view.sides.map((side, i) => {
      const note = h("span", { class: "bar-note" });
      const label = h("label", { for: this.seats[i].id }, one ? "Player" : side);
      return { note, element: h("div", { class: `bar side-${i}` }, h("span", { class: "bar-mark", "aria-hidden": "true" }), this.seats[i], label, note) };
    });
    this.coach = h("input", { type: "checkbox", id: "coach" });
    this.coach.checked = Boolean(view.exact) && !view.puzzles.length; // who solves a puzzle wants to find out
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
    this.resignButton = button("Resign", "Give up this game", () => this.resign());
    this.resignButton.addEventListener("blur", () => this.askResign(false));
    this.soundButton = h("button", { type: "button", class: "icon", "aria-label": "Sounds", onclick: () => {
      setSound(!soundOn());
      this.buttons();
      sound("move");
    } }, "♪");
    this.stop = button("Stop", "Stop the agent", () => {
      this.held = true;
      this.running = false;
      this.abort?.abort();
    }, "warn");
    this.go = button("Let it move", "Let the agent move", () => this.reply(), "main");
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
    this.legalTitle = h("summary", {});
    this.legalBox = h("details", { class: "legal" }, this.legalTitle, this.legalList);
    this.legalBox.open = localStorage.getItem("legal") === "open";
    this.legalTitle.addEventListener("click", () => localStorage.setItem("legal", this.legalBox.open ? "closed" : "open"));
    this.history = h("ol", { class: one ? "history" : "history two-columns", "aria-label": "Moves played" });
    this.thoughts = new Thoughts(this);
    this.review = new Review(this);
    this.notation = h("textarea", { id: "notation", rows: 2, readonly: true, spellcheck: "false" });

    const tools = h("div", { class: "row tools", role: "group", "aria-label": "Tools" }, this.undo, this.redo, this.hintButton, one ? null : this.flipButton, this.resignButton, this.go, this.stop, this.soundButton);
    const name = view.variant ? `${view.title} ${view.variant}` : view.title;
    const about = view.about.day ? `Puzzle of ${view.about.day}` : view.about.puzzle ? `${view.about.puzzle} puzzle` : "";
    this.top = h("div", { class: "bar-place top-bar", hidden: one });
    this.bottom = h("div", { class: "bar-place bottom-bar" });
    this.element = h("div", { class: one ? "play one" : "play" },
      h("div", { class: "play-head" }, h("h1", {}, name, about ? h("span", { class: "soft" }, ` ${about}`) : null), this.status),
      this.top, this.board.element, this.bottom,
      h("div", { class: "play-tools" }, tools, this.watchBar),
      h("div", { class: "play-notes" }, this.banner, this.verdict, this.hintBox),
      h("div", { class: "play-side" }, this.tabs({
        Moves: h("div", {},
          this.history, this.legalBox,
          view.exact ? h("div", { class: "check" }, this.coach, h("label", { for: "coach" }, "Tell me when a move goes wrong")) : null),
        "What it thinks": this.thoughts.element,
        Review: this.review.element,
        Position: this.positionPanel(),
      })));
    this.onkey = (event) => this.shortcut(event);
    document.addEventListener("keydown", this.onkey);
    if (view.about.puzzle) this.ticking = setInterval(() => this.showTime(), 500);
  }

  tabs(panels) {
    const names = Object.keys(panels);
    const id = (name) => name.toLowerCase().replaceAll(" ", "-");
    const buttons = names.map((name) => h("button", {
      type: "button", role: "tab", id: `tab-${id(name)}`, "aria-controls": `panel-${id(name)}`, onclick: () => choose(name),
    }, name));
    const boxes = names.map((name) => h("div", { role: "tabpanel", id: `panel-${id(name)}`, "aria-labelledby": `tab-${id(name)}` }, panels[name]));
    const choose = (this.choose = (chosen) => names.forEach((name, i) => {
      buttons[i].setAttribute("aria-selected", name === chosen);
      buttons[i].tabIndex = name === chosen ? 0 : -1;
      boxes[i].hidden = name !== chosen;
    }));
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
    const record = () => get(`/plays/${this.view.id}/record`);
    const button = (name, act) => h("button", { type: "button", onclick: act }, name);
    return h("div", {},
      h("div", { class: "field" }, h("label", { for: "notation" }, "This position"), this.notation),
      h("div", { class: "row" },
        button("Copy position", () => copy(this.view.position, "Position")),
        button("Copy link", () => copy(this.address(link()), "Link")),
        button("Share game", () => copy(this.address(location.hash), "Link to this game")),
        button("Copy game", async () => copy((await record()).text, "Game")),
        button("Save game", async () => save(await record())),
        button("Set up from here", () => { location.href = link(); })));
  }

  address(link) {
    return `${location.origin}${location.pathname}${this.token}${link}`;
  }

  /** The only person sees their side at the bottom. */
  turnTowardsPerson() {
    const { players, bottom } = this.view;
    const persons = players.flatMap((player, i) => (player === "person" ? [i] : []));
    this.board.flip(players.length === 2 && persons.length === 1 && persons[0] !== bottom);
  }

  /** Show what the server sent, and let an agent move if it is its turn. */
  update(view) {
    const before = this.view;
    const moved = view.ply !== before.ply || view.position !== before.position;
    const seats = view.agents.join() !== before.agents.join() || view.players.join() !== before.players.join(); // not every agent can play every position
    this.view = view;
    if (seats) {
      this.seats.forEach((select, i) => {
        offer(select, view, view.players[i]);
      });
      this.thoughts.offer();
    }
    if (moved) {
      this.lit = [];
      this.hintStage = 0;
      this.hintBox.hidden = true;
    }
    const ended = view.turn === "over" && before.turn !== "over";
    if (before.legal.some((move) => move.key)) this.lastSteered = Date.now();
    if (moved && view.ply > before.ply) sound(pieces(view) < pieces(before) ? "take" : "move");
    if (ended) sound("end");
    this.draw(moved ? (view.ply > before.ply ? view.path : [...before.path].reverse()) : null);
    this.celebrate(view.feats.filter((feat) => !this.feats.has(feat)));
    this.showResult(ended);
    this.thoughts.update();
    this.review.update();
    if (view.turn !== "agent") this.running &&= view.turn !== "over";
    else if (view.players.includes("person") ? !this.held && (moved || view.length === view.ply) : this.running && view.redo === null) this.reply();
    this.buttons();
  }

  draw(path = null) {
    const { view } = this;
    const touchable = view.turn === "person" && !this.abort ? view.legal : [];
    this.board.words = this.thoughts.words();
    this.board.show(this.thoughts.overlay() ?? view.svg, `${view.title}, ${view.status}: ${view.position}`, touchable, this.lit, path);
    this.element.style.setProperty("--aspect", this.board.aspect);
    this.status.textContent = [this.lastReply(), view.status].filter(Boolean).join(" ");
    this.notation.value = view.position;
    this.drawBars();
    this.drawLegal(touchable);
    this.drawHistory();
    requestAnimationFrame(() => this.follow()); // the first drawing is not on the page yet
  }

  drawBars() {
    const { view } = this;
    const low = (view.bottom === 0) === this.board.flipped ? 1 : 0; // whose side is below
    this.bars.forEach(({ element, note }, i) => {
      const place = view.sides.length === 1 || i === low ? this.bottom : this.top;
      if (element.parentElement !== place) place.append(element);
      element.classList.toggle("to-move", view.turn !== "over" && view.player === i);
      element.classList.toggle("winner", view.result?.winner === i);
      if (!view.about.puzzle) note.textContent = view.result?.winner === i ? "won" : playerAbout(view.players[i], view.opponents);
    });
    this.showTime();
  }

  /** The time that a puzzle takes. */
  showTime() {
    const { about, created } = this.view;
    if (!about.puzzle || !this.view.players.includes("person")) return;
    const seconds = about.seconds ?? Date.now() / 1000 - created;
    this.bars[0].note.textContent = this.view.result && !about.seconds ? "" : clock(Math.max(0, seconds));
  }

  drawLegal(touchable) {
    const { view } = this;
    this.refocus ||= this.legalList.contains(document.activeElement);
    this.legalList.replaceChildren(...touchable.map((move) => h("li", {}, h("button", {
      type: "button", class: "move", onclick: () => this.move(move.action), title: move.label ? move.name : null,
      onpointerenter: () => this.board.mark([move]),
      onfocus: () => this.board.mark([move]),
      onpointerleave: () => this.board.mark([]), onblur: () => this.board.mark([]),
    }, figure(move, this.board.boxes), told(move)))));
    if (this.refocus && touchable.length) {
      if (document.activeElement === document.body) this.legalList.querySelector("button").focus({ preventScroll: true });
      this.refocus = false;
    }
    this.legalTitle.textContent = touchable.length ? `${touchable.length} legal move${touchable.length > 1 ? "s" : ""}` : view.turn === "over" ? "The game is over" : "It is not your turn";
    // A board without cells is played from the list.
    if (touchable.length && touchable.every((move) => !move.cells.length)) this.legalBox.open = true;
  }

  /** The moves played, in a row for every turn and a column for every player. */
  drawHistory() {
    const { view } = this;
    const rows = [];
    let row = null;
    for (const move of view.history) {
      if (!row || row.turn !== move.turn) rows.push((row = { turn: move.turn, moves: [] }));
      row.moves.push(move);
    }
    const button = (move) => h("button", {
      type: "button", class: move.ply > view.ply ? "move later" : "move", "aria-current": move.ply === lastPly(view) ? "step" : null,
      title: move.label ? move.name : null, onclick: () => this.pauseAt(() => move.ply),
    }, figure(move, this.board.boxes), told(move));
    const two = view.sides.length === 2;
    this.history.replaceChildren(...rows.map(({ turn, moves }) => h("li", { value: turn },
      h("span", { class: "number", "aria-hidden": "true" }, `${turn}.`),
      two && moves[0].player === 1 ? h("span", { class: "soft" }, "…") : null,
      moves.map(button))));
    if (view.history[0]?.ply > 2) this.history.prepend(h("li", { class: "soft" }, "…"));
    if (!view.history.length) this.history.replaceChildren(h("li", { class: "soft nothing" }, "No move was played yet."));
  }

  /** Scroll the list of moves to the one that led to what is shown. */
  follow() {
    const current = this.history.querySelector("[aria-current]")?.parentElement;
    if (current) this.history.scrollTop = current.offsetTop - (this.history.clientHeight - current.offsetHeight) / 2;
  }

  /** What the agent has just played, for all to read and hear. */
  lastReply() {
    const { view } = this;
    const last = view.history.findLast((row) => row.ply <= view.ply);
    if (!last || view.turn === "over" || view.sides.length === 1 || view.players[last.player] === "person" || !view.players.includes("person")) return "";
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
    this.resignButton.hidden = !person || view.sides.length === 1;
    this.resignButton.disabled = view.turn === "over" || view.ply < view.length;
    this.soundButton.setAttribute("aria-pressed", soundOn());
    this.soundButton.title = soundOn() ? "Sounds are on" : "Sounds are off";
    this.stop.hidden = !this.abort || !this.slow;
    this.go.hidden = !person || view.turn !== "agent" || Boolean(this.abort);
    this.watchBar.hidden = person;
    this.coach.parentElement?.toggleAttribute("hidden", !person);
    this.playPause.textContent = this.running ? "Pause" : "Run";
    this.playPause.disabled = view.turn === "over" && view.redo === null;
  }

  // The end

  showResult(ended) {
    const { view } = this;
    const { result, about } = view;
    this.banner.hidden = !result;
    if (!result) return;
    const persons = view.players.flatMap((player, i) => (player === "person" ? [i] : []));
    const mine = view.sides.length === 2 && persons.length === 1 ? persons[0] : null;
    let [title, kind] = ["Game over", "over"];
    if (result.solved !== undefined && result.solved !== null) [title, kind] = result.solved ? ["Solved!", "won"] : ["Not solved", "lost"];
    else if (result.score !== undefined) title = `${result.score.toLocaleString("en")} ${result.unit}`;
    else if (result.winner === null) [title, kind] = ["A draw", "drawn"];
    else if (mine === null) title = `${view.sides[result.winner]} wins`;
    else [title, kind] = result.winner === mine ? ["You won!", "won"] : ["You lost", "lost"];
    const lines = [...(view.status === title ? [] : [view.status]), ...view.feats.slice(-1)];
    if (result.solved && about.seconds) lines.push(`${clock(about.seconds)}, ${hintsUsed(about)}.`);
    const { score, best_before: before } = about;
    if (score !== undefined && score === result.score) {
      if (before === null) lines.push("Your first result in this game.");
      else if (score > before) lines.push(`Your best so far! Before it was ${before.toLocaleString("en")}.`);
      else if (score === before) lines.push("That equals your best.");
      else lines.push(`Your best is ${before.toLocaleString("en")}.`);
    }
    const button = (name, act, classes) => h("button", { type: "button", class: classes, onclick: act }, name);
    const again = about.puzzle
      ? [button("Next puzzle", () => this.again(), "main")]
      : view.sides.length === 2
        ? [button("Rematch", () => this.rematch(), "main"), button("New game", () => this.again())]
        : [button("New game", () => this.again(), "main")];
    this.banner.className = `banner ${kind}`;
    this.banner.replaceChildren(
      h("h2", {}, title), ...lines.map((line) => h("p", {}, `${line}${/[.!]$/.test(line) ? "" : "."}`)),
      h("div", { class: "row" }, again,
        button("Review", () => { this.choose("Review"); this.review.run(); }),
        result.solved ? button("Share", () => this.share()) : null));
    const record = score !== undefined && before !== null && score > before;
    if (ended && persons.length && (result.solved || record)) this.confetti();
  }

  /** Another game of this kind. */
  again() {
    const { game, variant, players, about } = this.view;
    start({ game, variant, players, puzzle: about.puzzle ?? null });
  }

  /** The same opponent: the sides change where both begin alike, else it is the same position again. */
  rematch() {
    const { game, variant, players, usual, start: position } = this.view;
    if (usual) start({ game, variant, players: [...players].reverse() });
    else start({ game, variant, players, position });
  }

  async share() {
    const { about, title } = this.view;
    const { streak } = await get("/puzzles");
    const what = about.day ? `Rookery puzzle of ${about.day}` : "A Rookery puzzle";
    const row = about.day && streak > 1 ? `, ${streak} days in a row` : "";
    const text = `${what}: ${title}, ${about.puzzle}\nSolved in ${clock(about.seconds)}, ${hintsUsed(about)}${row}`;
    await copy(`${text}\n${this.address("")}`, "Result");
  }

  askResign(asked) {
    this.sure = asked;
    this.resignButton.textContent = asked ? "Really?" : "Resign";
    this.resignButton.classList.toggle("warn", asked);
  }

  async resign() {
    if (!this.sure) {
      this.askResign(true);
      return;
    }
    this.askResign(false);
    this.changes += 1;
    this.abort?.abort();
    await this.send(() => ({ what: "resign", body: {} }));
  }

  celebrate(feats) {
    if (!feats.length) return;
    for (const feat of feats) this.feats.add(feat);
    toast(feats.at(-1));
    this.confetti();
  }

  confetti() {
    if (calm()) return;
    const bits = Array.from({ length: 60 }, (_, i) => {
      const bit = h("i");
      const style = { "--x": `${100 * Math.random()}%`, "--d": `${0.6 * Math.random()}s`, "--h": (i * 47) % 360, "--r": `${720 * Math.random() - 360}deg` };
      for (const [name, value] of Object.entries(style)) bit.style.setProperty(name, value);
      return bit;
    });
    const box = h("div", { class: "confetti", "aria-hidden": "true" }, bits);
    this.board.element.append(box);
    setTimeout(() => box.remove(), 3200);
  }

  // Changes

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
      if (ply === null) return null;
      this.held = ply < this.view.length; // who looks back does not want to be answered
      return { what: "goto", body: { ply } };
    });
  }

  /** The agent whose turn it is thinks and moves. */
  async reply() {
    if (this.abort) return;
    this.held = false;
    const mine = (this.abort = new AbortController());
    const { changes } = this;
    this.slow = false;
    const bar = this.bars[this.view.player];
    let next = null;
    this.draw();
    this.buttons();
    try {
      for await (const event of stream(`/plays/${this.view.id}/reply`, {}, mine.signal)) {
        if (event.event === "waiting") {
          this.slow = true;
          bar.note.textContent = `thinking, ${event.seconds.toFixed(0)} s`;
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
    this.turnTowardsPerson();
    this.draw();
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
    if (this.view.about.puzzle) this.view.about.hints = (this.view.about.hints ?? 0) + 1;
    this.draw();
  }

  // Keys and fingers

  shortcut(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const { target } = event;
    if (target.closest?.("input, select, textarea, [role=tablist], .picker")) return;
    const own = this.view.turn === "person" && !this.abort ? this.view.legal.find((move) => move.key === event.key) : null;
    if (!own && event.key.startsWith("Arrow") && this.steered()) {
      event.preventDefault(); // an arrow that moves nothing must not take a move back
      return;
    }
    const onButton = target.closest?.("button, a, summary");
    const act = own ? () => this.move(own.action) : {
      ArrowLeft: () => this.pauseAt(before), ArrowRight: () => this.pauseAt(after),
      Home: () => this.pauseAt(() => 0), End: () => this.pauseAt((view) => view.length),
      u: () => this.goTo((view) => view.undo), r: () => this.goTo((view) => view.redo),
      h: () => this.view.turn === "person" && this.hint(), f: () => this.flipButton.click(),
      " ": onButton || this.watchBar.hidden ? null : () => this.toggle(),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Whether arrow keys play this game, or did so just before it ended. */
  steered() {
    const { view } = this;
    if (!view.players.includes("person")) return false;
    if (view.legal.some((move) => move.key)) this.lastSteered = Date.now();
    return Date.now() - (this.lastSteered ?? 0) < 2000;
  }

  /** A finger that goes over the board plays the move of that arrow key, where there is one. */
  swipe(dx, dy) {
    if (Math.max(Math.abs(dx), Math.abs(dy)) < 24 || this.view.turn !== "person") return;
    const key = Math.abs(dx) > Math.abs(dy) ? (dx > 0 ? "ArrowRight" : "ArrowLeft") : dy > 0 ? "ArrowDown" : "ArrowUp";
    const move = this.view.legal.find((one) => one.key === key);
    if (move) this.move(move.action);
  }

  close() {
    this.closed = true;
    this.running = false;
    clearInterval(this.ticking);
    document.removeEventListener("keydown", this.onkey);
    this.abort?.abort();
    this.thoughts.close();
    this.review.close();
  }
}

function hintsUsed({ hints }) {
  return hints ? `with ${hints} hint${hints > 1 ? "s" : ""}` : "without a hint";
}

/** How many pieces a drawing has. */
function pieces(view) {
  return view.svg.split("data-piece=").length;
}

/** The ply of the move that led to what is shown: chance may have drawn since. */
function lastPly(view) {
  return view.history.findLast((row) => row.ply <= view.ply)?.ply;
}

/** One move back, whoever made it. */
function before(view) {
  const ply = lastPly(view);
  return ply === undefined ? null : ply - 1;
}

function after(view) {
  return view.history.find((row) => row.ply > view.ply)?.ply ?? null;
}

function save({ text, file }) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  h("a", { href: address, download: file }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
