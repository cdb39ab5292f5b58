// The archive of the daily puzzles.

import { get } from "./api.js";
import { clock, h } from "./dom.js";
import { start } from "./home.js";

export async function puzzlesPage(place) {
  const { days, streak, game, title } = await get("/puzzles");
  if (!game) throw new Error("no game here has puzzles");
  const solved = days.filter((row) => row.seconds).length;
  place.append(
    h("h1", {}, "Puzzles by day"),
    h("p", { class: "lead" }, `${title}, easy on Monday, hard on Sunday. You solved ${solved} of the last ${days.length}. `, streak > 1 ? h("span", { class: "streak" }, `${streak} days in a row.`) : null),
    h("ol", { class: "days" }, days.map((row) => day(row, game))));
}

function day({ day: date, level, id, seconds }, game) {
  const name = new Date(`${date}T12:00:00Z`).toLocaleDateString("en", { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });
  const inside = [h("b", {}, name), h("small", {}, level), h("small", {}, seconds ? `solved in ${clock(seconds)}` : id ? "begun" : "")];
  return h("li", {}, id
    ? h("a", { class: `button ${seconds ? "solved" : ""}`, href: `#/play/${id}` }, inside)
    : h("button", { type: "button", onclick: () => start({ game, players: ["person"], puzzle: "daily", day: date }) }, inside));
}
