// Training runs and searches, and reports.

import { get, post } from "./api.js";
import { chart } from "./chart.js";
import { drawing, h, options } from "./dom.js";
import { field } from "./setup.js";

const STATES = { running: "Running", done: "Done", stopped: "Stopped", failed: "Failed", found: "In the folder" };

function badge(state) {
  return h("span", { class: `badge ${state}` }, STATES[state]);
}

function when(seconds) {
  return new Date(1000 * seconds).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
}

export async function runsPage(place) {
  const { runs, recipes } = await get("/runs");
  place.append(h("h1", {}, "Runs"), h("p", { class: "lead" }, "Let a program learn or search, and watch it get better. Runs go on while this page is closed."));
  if (recipes.length) place.append(starter(recipes));
  place.append(h("h2", { id: "runs-title" }, "All runs"));
  if (!runs.length) place.append(h("p", { class: "soft" }, "None yet."));
  place.append(h("ul", { class: "runs", "aria-labelledby": "runs-title" }, runs.map((run) => h("li", {},
    h("a", { href: `#/runs/${run.id}` }, run.title), badge(run.state),
    h("span", { class: "soft" }, [run.command, when(run.started)].filter(Boolean).join(" · "))))));
}

function starter(recipes) {
  const what = options(h("select", { id: "recipe" }), recipes.map((recipe) => recipe.id), null, (id) => recipes.find((recipe) => recipe.id === id).title);
  const about = h("p", { class: "soft" });
  const fields = h("div", { class: "fields" });
  let inputs = {};

  function choose() {
    const recipe = recipes.find((row) => row.id === what.value);
    about.textContent = recipe.about;
    inputs = {};
    fields.replaceChildren(...recipe.options.map((option) => {
      const id = `option-${option.name}`;
      let input;
      if (option.kind === "choice") input = options(h("select", { id }), option.choices, option.default);
      else if (option.kind === "switch") {
        input = h("input", { type: "checkbox", id });
        input.checked = Boolean(option.default);
      } else input = h("input", { type: "number", id, min: 0, step: option.kind === "whole" ? 1 : "any", value: option.default ?? "", placeholder: "as usual" });
      inputs[option.name] = { input, option };
      return field(option.name.replaceAll("_", " "), input);
    }));
  }

  function given() {
    const entries = Object.entries(inputs).map(([name, { input, option }]) => {
      if (option.kind === "choice") return [name, input.value];
      if (option.kind === "switch") return [name, input.checked];
      return [name, input.value === "" ? null : Number(input.value)];
    });
    return Object.fromEntries(entries);
  }

  what.addEventListener("change", choose);
  choose();
  return h("form", {
    class: "starter",
    onsubmit: async (event) => {
      event.preventDefault();
      const { id } = await post("/runs", { recipe: what.value, options: given() });
      location.hash = `#/runs/${id}`;
    },
  }, field("What", what), about, fields, h("div", { class: "row" }, h("button", { type: "submit", class: "main" }, "Start")));
}

export async function runPage(place, query, id) {
  let run = await get(`/runs/${id}`);
  let timer = 0;
  let closed = false;
  const state = h("div", { class: "row", role: "status" });
  const message = h("p", { class: "message" });
  const curve = h("div", {});
  const best = h("div", { class: "best" });
  const result = h("div", {});
  const y = h("select", { id: "curve-y" });
  const yField = field("Show", y);
  const stop = h("button", { type: "button", class: "warn", onclick: () => act("stop") }, "Stop");
  const meet = h("div", {});
  const resume = h("button", { type: "button", class: "main", onclick: () => act("resume") }, "Go on");

  async function act(verb) {
    await post(`/runs/${id}/${verb}`);
    if (verb === "stop") stop.disabled = true;
    await look();
  }

  function draw() {
    state.replaceChildren(badge(run.state), run.seconds ? h("span", { class: "soft" }, `${run.seconds.toFixed(0)} s`) : "");
    message.textContent = run.message;
    message.hidden = !run.message;
    stop.hidden = run.state !== "running";
    stop.disabled &&= run.state === "running";
    resume.hidden = !(run.resumable && (run.state === "stopped" || run.state === "failed"));
    meet.replaceChildren(run.agent ? h("a", { class: "button", href: `#/new/${run.game}?agent=${encodeURIComponent(run.agent)}${run.variant ? `&variant=${encodeURIComponent(run.variant)}` : ""}` }, "Play with it") : "");
    yField.hidden = !run.curve;
    if (run.curve) {
      const { columns, rows } = run.curve;
      const names = columns.slice(1);
      if (y.options.length !== names.length) options(y, names, names.find((name) => /mean_rounds|optimal|score|best/.test(name)) ?? names[0], (name) => name.replaceAll("_", " "));
      const at = columns.indexOf(y.value);
      curve.replaceChildren(chart(rows.map((row) => [row[0], row[at]]), columns[0].replaceAll("_", " "), y.value.replaceAll("_", " ")));
    } else curve.replaceChildren(run.state === "running" ? h("p", { class: "soft" }, "The curve appears with the first numbers.") : "");
    best.replaceChildren(run.best ? h("figure", {}, drawing(run.best.svg, `The best game, ${run.best.score} moves`), h("figcaption", {}, `Best game so far: ${run.best.score} moves`)) : "");
    const rows = Object.entries(run.result ?? {});
    result.replaceChildren(rows.length ? h("table", {}, h("caption", {}, "Result"), h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name.replaceAll("_", " ")), h("td", {}, String(value)))))) : "");
  }

  async function look() {
    clearTimeout(timer);
    run = await get(`/runs/${id}`);
    if (closed) return;
    draw();
    if (run.state === "running") timer = setTimeout(look, 1000);
  }

  y.addEventListener("change", draw);
  place.append(h("p", {}, h("a", { href: "#/runs" }, "All runs")), h("h1", {}, run.title), run.command ? h("p", { class: "soft" }, h("code", {}, run.command)) : "",
    state, message, h("div", { class: "row" }, stop, resume, meet), h("div", { class: "two" }, h("div", {}, yField, curve), h("div", {}, best, result)));
  draw();
  if (run.state === "running") timer = setTimeout(look, 500);
  return () => {
    closed = true;
    clearTimeout(timer);
  };
}

export async function reportsPage(place) {
  const { reports } = await get("/reports");
  place.append(h("h1", {}, "Reports"), h("p", { class: "lead" }, "Every paper's figures beside ours, the strong baseline and the exact answer, as ", h("code", {}, "rookery reproduce"), " writes them."));
  if (!reports.length) place.append(h("p", { class: "soft" }, "None yet. Make one with ", h("code", {}, "rookery reproduce --quick"), "."));
  place.append(h("ul", { class: "runs" }, reports.map((report) => h("li", {},
    h("a", { href: `/reports/${report.id}`, target: "_blank", rel: "noopener" }, report.name), h("span", { class: "soft" }, when(report.updated))))));
}
