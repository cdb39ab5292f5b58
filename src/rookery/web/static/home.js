// The first page: today's puzzle, the games, and games in progress.

import { get, post, remove } from "./api.js";
import { agentName, drawing, h } from "./dom.js";

const SHOWN = 6; // games of a list, before one asks for more

export async function home(place) {
  const [{ games, today, daily: name }, { plays }] = await Promise.all([get("/games"), get("/plays")]);
  place.append(
    h("h1", { class: "hello" }, "Play, watch, and ask why"),
    h("p", { class: "lead" }, "Programs learn these games here. Play against them, see what they think of every move, ",
      "and how far from perfect they still are."),
    name ? daily(games.find((game) => game.name === name), today, plays.find((play) => play.about.day === today)) : null,
    h("h2", { id: "games-title" }, "Games"),
    h("ul", { class: "cards", "aria-labelledby": "games-title" }, games.map(card)),
  );
  place.append(...list("Continue", plays.filter((play) => !play.over)), ...list("Finished", plays.filter((play) => play.over)));
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

function daily(game, today, begun) {
  const day = new Date(`${today}T12:00:00Z`).toLocaleDateString("en", { weekday: "long", day: "numeric", month: "long" });
  return h("section", { class: "daily" },
    h("div", {}, h("h2", {}, "Puzzle of the day"), h("p", {}, `${game.title} for ${day}. ${begun?.over ? `${begun.status}.` : game.blurb}`)),
    begun
      ? h("a", { class: `button ${begun.over ? "" : "main"}`, href: `#/play/${begun.id}` }, begun.over ? "Look at it again" : "Continue")
      : h("button", { class: "main", type: "button", onclick: () => start({ game: game.name, players: Array(game.players).fill("person"), puzzle: "daily" }) }, "Solve it"));
}

export async function start(body) {
  const play = await post("/plays", body);
  location.hash = `#/play/${play.id}`;
}

function card(game) {
  const players = game.players === 1 ? ["person"] : ["person", game.opponent];
  const watched = Array(game.players).fill(game.opponent);
  return h("li", { class: "card" },
    h("a", { class: "thumb", href: `#/new/${encodeURIComponent(game.name)}`, "aria-hidden": "true", tabindex: "-1" }, drawing(game.svg, null)),
    h("div", { class: "card-text" },
      h("h3", {}, game.title),
      h("p", {}, game.blurb),
      h("div", { class: "row" },
        h("button", { class: "main", type: "button", onclick: () => start({ game: game.name, players }), "aria-label": `Play ${game.title}` }, "Play"),
        h("button", { type: "button", onclick: () => start({ game: game.name, players: watched }), "aria-label": `Watch ${game.title}` }, "Watch"),
        h("a", { class: "button quiet", href: `#/new/${encodeURIComponent(game.name)}`, "aria-label": `Set up ${game.title}` }, "Set up"))));
}

function recent(play) {
  const names = play.players.map(agentName).join(" and ");
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
