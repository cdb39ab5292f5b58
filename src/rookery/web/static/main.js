// The page: which part of it is shown, and light or dark.

import { home } from "./home.js";
import { h, parts, toast } from "./dom.js";
import { learnPage, lessonPage } from "./learn.js";
import { setUp } from "./setup.js";
import { playPage } from "./play.js";
import { puzzlesPage } from "./puzzles.js";
import { reportsPage, runPage, runsPage } from "./runs.js";

/** @type {[RegExp, string, (...about: any[]) => any][]} The address, the part of the menu, and what shows the page. */
const PAGES = [
  [/^\/$/, "home", home],
  [/^\/new\/([^/]+)$/, "home", setUp],
  [/^\/play\/([\w-]+)$/, "home", playPage],
  [/^\/learn$/, "learn", learnPage],
  [/^\/learn\/([\w-]+)$/, "learn", lessonPage],
  [/^\/puzzles$/, "home", puzzlesPage],
  [/^\/runs$/, "runs", runsPage],
  [/^\/runs\/([\w-]+)$/, "runs", runPage],
  [/^\/reports$/, "reports", reportsPage],
];

const main = document.getElementById("main");
let leave = null; // what the page that is shown wants done before it goes
let visits = 0;

async function show() {
  leave?.();
  leave = null;
  const [path, query] = (location.hash.slice(1) || "/").split("?");
  const visit = (visits += 1);
  for (const [pattern, nav, page] of PAGES) {
    const match = pattern.exec(path);
    if (!match) continue;
    for (const link of parts(document.body, "[data-nav]")) {
      if (link.dataset.nav === nav) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    const place = h("div", { class: "page" });
    let later;
    try {
      later = await page(place, new URLSearchParams(query ?? ""), ...match.slice(1).map(decodeURIComponent));
    } catch (error) {
      place.replaceChildren(h("h1", {}, "That did not work"), h("p", {}, sentence(error)), h("p", {}, h("a", { href: "#/" }, "To the games")));
    }
    if (visit !== visits) {
      later?.();
      return;
    }
    leave = later ?? null;
    main.replaceChildren(place);
    document.title = `${place.querySelector("h1")?.textContent ?? "Rookery"} · Rookery`;
    if (visits > 1) main.focus({ preventScroll: true });
    window.scrollTo(0, 0);
    return;
  }
  location.hash = "#/";
}

function sentence(error) {
  const text = error.message ?? String(error);
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

window.addEventListener("hashchange", show);
window.addEventListener("unhandledrejection", (event) => {
  if (event.reason?.name === "AbortError") return event.preventDefault();
  toast(sentence(event.reason));
  event.preventDefault();
});

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");

function theme() {
  const chosen = localStorage.getItem("theme");
  root.dataset.theme = chosen ?? (dark.matches ? "dark" : "light");
  document.getElementById("theme").textContent = root.dataset.theme === "dark" ? "☀" : "☾";
}

document.getElementById("theme").addEventListener("click", () => {
  localStorage.setItem("theme", root.dataset.theme === "dark" ? "light" : "dark");
  theme();
});
dark.addEventListener("change", theme);
theme();
show();
