// A new game: variant, players, level, and a position of one's own. Also what a shared link opens.

import { get, post } from "./api.js";
import { Board } from "./board.js";
import { agentName, h, options } from "./dom.js";
import { start } from "./home.js";

export async function setUp(place, query, name) {
  const { games } = await get("/games");
  const game = games.find((row) => row.name === name);
  if (!game) throw new Error(`there is no game called ${name}`);

  const variant = options(h("select", { id: "variant" }), game.variants, query.get("variant"));
  // An agent that a link names takes the last seat, the only one where nobody plays against anybody.
  const asked = query.get("agent");
  const known = () => ["person", ...(game.agents_of[variant.value] ?? game.agents)];
  const seated = (i) => {
    if (known().includes(asked) && i === game.sides.length - 1) return asked;
    return i === 0 ? "person" : game.opponent;
  };
  const seats = game.sides.map((_, i) => options(h("select", { id: `seat-${i}` }), known(), seated(i), agentName));
  const level = options(h("select", { id: "level" }), ["", ...game.levels], "", (value) => value || `no, ${game.start}`);
  const position = h("textarea", { id: "position", rows: 3, spellcheck: "false", "aria-describedby": "position-note" });
  position.value = query.get("position") ?? "";
  const note = h("p", { id: "position-note", class: "soft", role: "status" });
  const piece = h("select", { id: "piece" });
  const turn = h("button", { type: "button", onclick: () => edit(0, "turn") }, "Other side to move");
  const board = new Board((cell) => edit(cell, piece.value));
  const palette = h("div", { class: "row palette" }, field("Touch the board to put there", piece), game.players === 2 ? turn : null);
  const body = () => ({ game: name, variant: variant.value || null, position: position.value.trim() || null });

  let latest = 0;
  let shown = "";
  async function look() {
    const mine = (latest += 1);
    const seen = await post("/preview", body());
    if (mine !== latest) return;
    note.classList.toggle("wrong", Boolean(seen.problem));
    if (seen.problem) {
      note.textContent = seen.problem;
      return;
    }
    palette.hidden = !Object.keys(seen.pieces).length;
    if (piece.options.length !== Object.keys(seen.pieces).length) options(piece, Object.keys(seen.pieces), null, (key) => seen.pieces[key]);
    shown = seen.position;
    const cells = palette.hidden ? [] : [...seen.svg.matchAll(/data-cell="(\d+)"/g)].map((match) => Number(match[1]));
    board.show(seen.svg, `The position: ${seen.position}`, cells.map((cell) => ({ action: cell, name: `Square ${cell + 1}`, cells: [cell] })));
    note.textContent = position.value.trim() ? `${seen.moves} legal moves` : `Leave it empty for ${game.start}.`;
  }

  /** Put something on the board; what makes no position is refused with the reason. */
  async function put(cell, what) {
    const seen = await post("/preview", { ...body(), position: shown, cell, piece: what });
    if (!seen.problem) position.value = shown = seen.position;
    await look();
    if (seen.problem) {
      note.textContent = seen.problem;
      note.classList.add("wrong");
    }
  }

  // One after the other, however fast the touches come: each starts from what the last one made.
  let editing = Promise.resolve();
  function edit(cell, what) {
    editing = editing.then(() => put(cell, what), () => put(cell, what));
    return editing;
  }

  const form = h("form", {
    class: "set-up",
    onsubmit: async (event) => {
      event.preventDefault();
      const players = seats.map((seat) => seat.value);
      if (level.value) await start({ game: name, players, puzzle: level.value });
      else await start({ ...body(), players });
    },
  },
    game.variants.length ? field("Variant", variant) : null,
    seats.map((seat, i) => field(game.players === 1 ? "Who plays" : game.sides[i], seat)),
    game.levels.length ? field("A puzzle made for you", level) : null,
    field("Position, in the notation of the field", position),
    note,
    h("div", { class: "row" }, h("button", { class: "main", type: "submit" }, "Start")),
  );
  variant.addEventListener("change", () => {
    for (const seat of seats) options(seat, known(), seat.value, agentName); // not every agent plays every variant
    look();
  });
  position.addEventListener("input", look);
  place.append(h("h1", {}, game.title), h("p", { class: "lead" }, game.blurb), h("div", { class: "two" }, h("div", { class: "preview-board" }, board.element, palette), form));
  await look();
}

export function field(text, input) {
  return h("div", { class: "field" }, h("label", { for: input.id }, text), input);
}
