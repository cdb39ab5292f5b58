// Who plays: a person, a level of the game, or any agent.

import { agentName, h } from "./dom.js";

const FEW = 5; // agents that are offered at once where a game has no levels
const MORE = "more";

/** What people call a player: the level, with its rating where it was measured, or the agent. */
export function playerName(name, opponents) {
  const level = opponents.find((row) => row.agent === name);
  if (!level) return agentName(name);
  return level.elo === null ? level.name : `${level.name} (${level.elo})`;
}

/** What a level says about itself. */
export function playerAbout(name, opponents) {
  return opponents.find((row) => row.agent === name)?.about ?? "";
}

/** Fill a list of players: you, the levels, and all agents behind "More". `of` has `opponents` and `agents`. */
export function offer(select, of, chosen, person = true) {
  const levels = of.opponents.map((row) => row.agent);
  const all = select.dataset.all === "yes";
  const others = of.agents.filter((name) => !levels.includes(name));
  const first = levels.length ? [...levels].reverse() : others.slice(0, FEW);
  const rest = others.filter((name) => !first.includes(name));
  const option = (value, text) => {
    const element = h("option", { value, title: playerAbout(value, of.opponents) || null }, text ?? playerName(value, of.opponents));
    element.selected = value === chosen;
    return element;
  };
  const here = [...(person ? ["person"] : []), ...first];
  const children = here.map((value) => option(value));
  if (all) children.push(h("optgroup", { label: "All agents" }, rest.map((value) => option(value))));
  else {
    if (chosen && !here.includes(chosen)) children.push(option(chosen));
    if (rest.length) children.push(option(MORE, "More agents …"));
  }
  if (all && chosen && !here.includes(chosen) && !rest.includes(chosen)) children.push(option(chosen));
  select.replaceChildren(...children);
}

/** Whether all agents were asked for; then the list has them now, and the choice stays what it was. */
export function openedMore(select, of, chosen, person = true) {
  if (select.value !== MORE) return false;
  select.dataset.all = "yes";
  offer(select, of, chosen, person);
  try {
    select.showPicker?.();
  } catch { /* not every browser lets a page open a list */ }
  return true;
}
