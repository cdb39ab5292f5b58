// The first page: today's puzzle, the games, and games in progress.

import { get, post, remove } from "./api.js";
import { calm, clock, drawing, h, options } from "./dom.js";
import { playerName } from "./players.js";

const SHOWN = 6; // games of a list, before one asks for more
const CARD = 240; // pixels that a card needs at least

export async function home(place) {
  const [{ games, today, daily: name }, { plays }, puzzles] = await Promise.all([get("/games"), get("/plays"), get("/puzzles")]);
  const cards = h("ul", { class: "cards", "aria-labelledby": "games-title" }, games.map(card));
  place.append(
    h("h1", { class: "hello" }, "Play, watch, and ask why"),
    h("p", { class: "lead" }, "Programs learn these games here. Play against them, see what they think of every move, ",
      "and how far from perfect they still are."),
    name ? await daily(games.find((game) => game.name === name), today, puzzles) : null,
    h("h2", { id: "games-title" }, "Games"), cards,
  );
  place.append(...list("Continue", plays.filter((play) => !play.over)), ...list("Finished", plays.filter((play) => play.over)));
  const sizes = new ResizeObserver(() => cards.style.setProperty("--columns", columns(games.length, cards.clientWidth)));
  sizes.observe(cards);
  const films = new Films(games);
  requestAnimationFrame(() => films.start(cards));
  return () => {
    sizes.disconnect();
    films.stop();
  };
}

/** As many cards in a row as fit, so that none is left alone in the last one. */
function columns(count, width) {
  const most = Math.max(1, Math.floor((width + 19) / (CARD + 19)));
  const fits = Array.from({ length: Math.min(most, count) }, (_, i) => most - i).filter((n) => n <= count);
  return fits.find((n) => n === 1 || count % n === 0 || (count % n) * 2 > n) ?? most;
}

/** Thumbnails that play: the pictures of a game come when its card is seen, and change while it is pointed at or, one
 * card after the other, by themselves. */
class Films {
  constructor(games) {
    this.games = games;
    this.frames = new Map();
    this.timer = 0;
  }

  async start(cards) {
    this.thumbs = [...cards.querySelectorAll(".thumb")];
    for (const [i, game] of this.games.entries()) {
      if (this.stopped) return;
      try {
        const { frames } = await get(`/games/${encodeURIComponent(game.name)}/film`);
        this.frames.set(this.thumbs[i], { frames, at: Math.floor(frames.length / 2) });
        this.show(this.thumbs[i], 0);
      } catch { /* the start of the game stays */ }
    }
    if (calm() || this.stopped) return;
    let turn = 0;
    this.timer = setInterval(() => {
      const thumb = this.thumbs.find((one) => one.matches(":hover")) ?? this.thumbs[(turn += 1) % this.thumbs.length];
      if (document.visibilityState === "visible") this.show(thumb, 1);
    }, 900);
  }

  show(thumb, step) {
    const film = this.frames.get(thumb);
    if (!film?.frames.length) return;
    film.at = (film.at + step) % film.frames.length;
    const next = drawing(film.frames[film.at], null);
    const old = [...thumb.children];
    thumb.append(next);
    const replaced = () => { for (const svg of old) svg.remove(); };
    if (calm()) replaced();
    else next.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 350 }).finished.then(replaced, () => null);
  }

  stop() {
    this.stopped = true;
    clearInterval(this.timer);
  }
}

function list(title, plays) {
  if (!plays.length) return [];
  const id = `title-${title.toLowerCase()}`;
  const cards = h("ul", { class: "cards small", "aria-labelledby": id }, plays.slice(0, SHOWN).map(recent));
  const more = h("button", {
    type: "button", class: "more",
    onclick: () => {
      cards.append(...plays.slice(SHOWN).map(recent));
      more.remove();
    },
  }, `${plays.length - SHOWN} more`);
  return [h("h2", { id }, title), cards, ...(plays.length > SHOWN ? [more] : [])];
}

async function daily(game, today, { days, streak }) {
  const day = new Date(`${today}T12:00:00Z`).toLocaleDateString("en", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });
  const begun = days.find((row) => row.day === today && row.id);
  const seen = await post("/preview", { game: game.name, puzzle: "daily" });
  const level = options(h("select", { id: "puzzle-level", "aria-label": "Level" }), game.levels, localStorage.getItem("level") ?? game.levels[0]);
  const players = Array(game.players).fill("person");
  const solved = begun?.seconds ? `Solved in ${clock(begun.seconds)}. ` : "";
  return h("section", { class: "daily" },
    h("div", { class: "thumb" }, drawing(seen.svg ?? game.svg, null)),
    h("div", {},
      h("h2", {}, "Puzzle of the day"),
      h("p", {}, `${game.title} for ${day}, ${days[0].level}. ${solved || game.blurb} `, streak > 1 ? h("span", { class: "streak" }, `${streak} days in a row.`) : null),
      h("div", { class: "row" },
        begun
          ? h("a", { class: `button ${solved ? "" : "main"}`, href: `#/play/${begun.id}` }, solved ? "Look at it again" : "Continue")
          : h("button", { class: "main", type: "button", onclick: () => start({ game: game.name, players, puzzle: "daily" }) }, "Solve it"),
        h("a", { class: "button", href: "#/puzzles" }, "Earlier days"),
        h("span", { class: "row" }, "or any puzzle:", level, h("button", {
          type: "button",
          onclick: () => {
            localStorage.setItem("level", level.value);
            start({ game: game.name, players, puzzle: level.value });
          },
        }, "Give me one")))));
}

export async function start(body) {
  const play = await post("/plays", body);
  location.hash = `#/play/${play.id}`;
}

function card(game) {
  const players = game.players === 1 ? ["person"] : ["person", game.meets];
  const watched = Array(game.players).fill(game.opponent);
  const { name, variant } = game;
  return h("li", { class: "card" },
    h("a", { class: "thumb", href: `#/new/${encodeURIComponent(name)}`, "aria-hidden": "true", tabindex: "-1" }, drawing(game.svg, null)),
    h("div", { class: "card-text" },
      h("h3", {}, game.title),
      h("p", {}, game.blurb),
      h("div", { class: "row" },
        h("button", { class: "main", type: "button", onclick: () => start({ game: name, variant, players }), "aria-label": `Play ${game.title}` }, "Play"),
        h("button", { type: "button", onclick: () => start({ game: name, variant, players: watched }), "aria-label": `Watch ${game.title}` }, "Watch"),
        h("a", { class: "button quiet", href: `#/new/${encodeURIComponent(name)}`, "aria-label": `Set up ${game.title}` }, "Set up"))));
}

function recent(play) {
  const names = play.players.map((player) => playerName(player, play.opponents)).join(" and ");
  const item = h("li", { class: "card" },
    h("a", { class: "thumb", href: `#/play/${play.id}`, "aria-hidden": "true", tabindex: "-1" }, drawing(play.svg, null)),
    h("div", { class: "card-text" },
      h("h3", {}, h("a", { href: `#/play/${play.id}` }, play.title), play.variant ? h("span", { class: "soft" }, ` ${play.variant}`) : null),
      h("p", {}, `${play.status}. ${names}.`),
      h("button", {
        class: "quiet", type: "button", "aria-label": `Forget this game of ${play.title}`,
        onclick: async () => {
          await remove(`/plays/${play.id}`);
          item.remove();
        },
      }, "Forget")));
  return item;
}
