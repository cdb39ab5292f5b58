// A new game: variant, players, level, and a position of one's own. Also what a shared link opens.

import { get, post } from "./api.js";
import { Board } from "./board.js";
import { h, options } from "./dom.js";
import { start } from "./home.js";
import { offer, openedMore } from "./players.js";

export async function setUp(place, query, name) {
  const { games } = await get("/games");
  const game = games.find((row) => row.name === name);
  if (!game) throw new Error(`there is no game called ${name}`);

  const variant = options(h("select", { id: "variant" }), game.variants, query.get("variant") ?? game.variant);
  // An agent that a link names takes the last seat, the only one where nobody plays against anybody.
  const asked = query.get("agent");
  const known = { opponents: game.opponents, agents: game.agents_of[variant.value] ?? game.agents };
  const seated = (i) => {
    if (known.agents.includes(asked) && i === game.sides.length - 1) return asked;
    return i === 0 ? "person" : game.meets;
  };
  const seats = game.sides.map((_, i) => {
    const select = h("select", { id: `seat-${i}` });
    const chosen = { value: seated(i) };
    offer(select, known, chosen.value);
    select.addEventListener("change", () => {
      if (!openedMore(select, known, chosen.value)) chosen.value = select.value;
    });
    return select;
  });
  const level = options(h("select", { id: "level" }), ["", ...game.levels], "", (value) => value || `no, ${game.start}`);
  const position = h("textarea", { id: "position", rows: 3, spellcheck: "false", "aria-describedby": "position-note" });
  position.value = query.get("position") ?? "";
  const note = h("p", { id: "position-note", class: "soft", role: "status" });
  const piece = h("select", { id: "piece" });
  const turn = h("button", { type: "button", onclick: () => edit(0, "turn") }, "Other side to move");
  const board = new Board((cell) => edit(cell, piece.value));
  const clear = h("button", { type: "button", onclick: () => edit(0, "clear") }, "Clear the board");
  const palette = h("div", { class: "row palette" }, field("Touch the board to put there", piece), game.players === 2 ? turn : null, clear);
  const begin = h("button", { class: "main", type: "submit" }, "Start");
  const seed = Math.floor(Math.random() * 2 ** 31); // what is shown is what Start gives
  const body = () => ({ game: name, variant: variant.value || null, position: position.value.trim() || null, puzzle: level.value || null, seed });

  let latest = 0;
  let shown = "";

  /** Ask what a change makes of the position, or, without one, what Start would give, and show it. */
  async function look(change = {}) {
    const mine = (latest += 1);
    const seen = await post("/preview", { ...body(), ...change });
    if (mine !== latest) return;
    begin.disabled = Boolean(seen.problem);
    note.classList.toggle("wrong", Boolean(seen.problem));
    if (seen.svg) {
      if (change.piece) position.value = seen.position;
      shown = seen.position;
      palette.hidden = Boolean(level.value) || !Object.keys(seen.pieces).length;
      clear.hidden = !("." in seen.pieces);
      if (piece.options.length !== Object.keys(seen.pieces).length) options(piece, Object.keys(seen.pieces), null, (key) => seen.pieces[key]);
      const cells = palette.hidden ? [] : [...seen.svg.matchAll(/data-cell="(\d+)"/g)].map((match) => Number(match[1]));
      board.show(seen.svg, `The position: ${seen.position}`, cells.map((cell) => ({ action: cell, name: `Square ${cell + 1}`, cells: [cell] })));
    }
    position.disabled = Boolean(level.value);
    if (seen.problem) {
      note.textContent = seen.problem;
      return;
    }
    Object.assign(known, { agents: seen.agents, opponents: seen.opponents }); // not every agent plays every position
    for (const seat of seats) offer(seat, known, ["person", ...seen.agents, ...seen.opponents.map((row) => row.agent)].includes(seat.value) ? seat.value : "person");
    note.textContent = position.value.trim() || level.value ? `${seen.moves} legal moves` : `Leave it empty for ${game.start}.`;
  }

  // One after the other, however fast the touches come: each starts from what the last one made.
  let editing = Promise.resolve();
  function edit(cell, what) {
    const put = () => look({ position: shown, puzzle: null, cell, piece: what });
    editing = editing.then(put, put);
    return editing;
  }

  const form = h("form", {
    class: "set-up",
    onsubmit: async (event) => {
      event.preventDefault();
      await start({ ...body(), players: seats.map((seat) => seat.value) });
    },
  },
    game.variants.length ? field("Variant", variant) : null,
    seats.map((seat, i) => field(game.players === 1 ? "Who plays" : game.sides[i], seat)),
    game.levels.length ? field("A puzzle made for you", level) : null,
    field("Position, in the notation of the field", position),
    note,
    h("div", { class: "row" }, begin),
  );
  variant.addEventListener("change", () => look());
  level.addEventListener("change", () => look());
  position.addEventListener("input", () => look());
  place.append(h("h1", {}, game.title), h("p", { class: "lead" }, game.blurb), h("div", { class: "two" }, h("div", { class: "preview-board" }, board.element, palette), form));
  await look();
}

export function field(text, input) {
  return h("div", { class: "field" }, h("label", { for: input.id }, text), input);
}
