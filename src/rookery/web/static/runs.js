// Training runs and reports.

import { get, post } from "./api.js";
import { chart } from "./chart.js";
import { drawing, h, methodName, options, short } from "./dom.js";
import { field } from "./setup.js";

const STATES = { running: "Running", done: "Done", stopped: "Stopped", failed: "Failed" };

function badge(state) {
  return h("span", { class: `badge ${state}` }, STATES[state]);
}

function when(seconds) {
  return new Date(1000 * seconds).toLocaleString("en", { dateStyle: "medium", timeStyle: "short" });
}

function words(name) {
  return name.replaceAll("_", " ");
}

export async function runsPage(place) {
  const { runs, forms } = await get("/runs");
  place.append(h("h1", {}, "Runs"), h("p", { class: "lead" }, "Let a program learn or search, and watch it get better. Runs continue while this page is closed."));
  if (forms.length) place.append(starter(forms));
  place.append(h("h2", { id: "runs-title" }, "All runs"));
  if (!runs.length) place.append(h("p", { class: "soft" }, "None yet."));
  place.append(h("ul", { class: "runs", "aria-labelledby": "runs-title" }, runs.map((run) => h("li", {},
    h("a", { href: `#/runs/${run.id}` }, run.title), badge(run.state),
    h("span", { class: "soft" }, [run.folder, run.started ? when(run.started) : ""].filter(Boolean).join(" · "))))));
}

/** A form made from the settings of a method. */
function starter(forms) {
  const titles = new Map(forms.map((form) => [form.game, form.title]));
  const game = options(h("select", { id: "run-game" }), [...titles.keys()], null, (name) => titles.get(name));
  const method = h("select", { id: "run-method" });
  const variant = h("select", { id: "run-variant" });
  const preset = h("select", { id: "run-preset" });
  const seed = h("input", { type: "number", id: "run-seed", min: 0, step: 1, value: 0, required: true });
  const [variantField, presetField] = [field("Variant", variant), field("Preset", preset)];
  const about = h("p", { class: "soft" });
  const fields = h("div", { class: "fields" });
  const alike = () => forms.filter((row) => row.game === game.value && row.method === method.value);
  const form = () => alike().find((row) => variant.value in row.defaults) ?? alike()[0];
  let inputs = new Map();

  function chooseGame() {
    options(method, [...new Set(forms.filter((row) => row.game === game.value).map((row) => row.method))], null, methodName);
    chooseMethod();
  }

  function chooseMethod() {
    const variants = alike().flatMap((row) => Object.keys(row.defaults));
    options(variant, variants, variants[0]);
    variantField.hidden = variants[0] === "";
    chooseVariant();
  }

  function chooseVariant() {
    const presets = Object.keys(form().presets);
    about.textContent = form().about;
    options(preset, ["", ...presets], "", (name) => name || "none");
    presetField.hidden = !presets.length;
    fill();
  }

  function fill() {
    const values = form().presets[preset.value] ?? form().defaults[variant.value];
    inputs = new Map(form().settings.map((setting) => [setting, input(setting, values[setting.name])]));
    fields.replaceChildren(...[...inputs].map(([setting, element]) => {
      const note = h("span", { class: "soft small-text", id: `${element.id}-note` }, setting.about);
      element.setAttribute("aria-describedby", note.id);
      const box = field(words(setting.name), element);
      box.append(note);
      return box;
    }));
  }

  function input(setting, value) {
    const id = `setting-${setting.name}`;
    if (setting.kind === "choice") return options(h("select", { id }), setting.choices, String(value));
    if (setting.kind === "switch") {
      const element = h("input", { type: "checkbox", id });
      element.checked = Boolean(value);
      return element;
    }
    return h("input", { type: "number", id, step: setting.kind === "whole" ? 1 : "any", value: value ?? "", placeholder: "as usual" });
  }

  function given({ kind }, element) {
    if (kind === "choice") return element.value;
    if (kind === "switch") return element.checked;
    return element.value === "" ? null : Number(element.value);
  }

  game.addEventListener("change", chooseGame);
  method.addEventListener("change", chooseMethod);
  variant.addEventListener("change", chooseVariant);
  preset.addEventListener("change", fill);
  chooseGame();
  return h("form", {
    class: "starter",
    onsubmit: async (event) => {
      event.preventDefault();
      const settings = Object.fromEntries([...inputs].map(([setting, element]) => [setting.name, given(setting, element)]));
      const { id } = await post("/runs", {
        game: game.value, variant: variant.value || null, method: method.value, preset: preset.value || null, settings, seed: Number(seed.value),
      });
      location.hash = `#/runs/${id}`;
    },
  }, h("div", { class: "fields" }, field("Game", game), field("Method", method), variantField, presetField, field("Seed", seed)), about, fields,
  h("div", { class: "row" }, h("button", { type: "submit", class: "main" }, "Start")));
}

export async function runPage(place, _query, id) {
  let run = await get(`/runs/${id}`);
  let timer = 0;
  let closed = false;
  let shown = ""; // the columns that can be chosen
  const state = h("div", { class: "row", role: "status" });
  const progress = h("progress", { max: 1, "aria-label": "Progress" });
  const error = h("p", { class: "message" });
  const curve = h("div", {});
  const best = h("div", { class: "best" });
  const figures = h("div", {});
  const y = h("select", { id: "curve-y" });
  const yField = field("Show", y);
  const stop = h("button", { type: "button", class: "warn", onclick: () => act("stop") }, "Stop");
  const meet = h("div", {});
  const resume = h("button", { type: "button", class: "main", onclick: () => act("resume") }, "Resume");

  async function act(verb) {
    await post(`/runs/${id}/${verb}`);
    if (verb === "stop") stop.disabled = true;
    await look();
  }

  function draw() {
    const share = run.state === "done" ? "" : `${(100 * run.progress).toFixed(0)} %`;
    const time = run.seconds ? `${run.seconds.toFixed(run.seconds < 10 ? 1 : 0)} s` : "";
    state.replaceChildren(badge(run.state), h("span", { class: "soft" }, [share, time].filter(Boolean).join(" · ")));
    progress.value = run.progress;
    progress.hidden = run.state === "done";
    error.textContent = run.error;
    error.hidden = !run.error;
    stop.hidden = !run.stoppable;
    stop.disabled &&= run.stoppable;
    resume.hidden = !run.resumable;
    meet.replaceChildren(run.agent ? h("a", { class: "button", href: `#/new/${encodeURIComponent(run.game)}?agent=${encodeURIComponent(run.agent)}${run.variant ? `&variant=${encodeURIComponent(run.variant)}` : ""}` }, "Play with it") : "");
    yField.hidden = !run.curve;
    if (run.curve) {
      const { columns: [x, ...names], rows } = run.curve;
      if (shown !== names.join()) options(y, names, names.includes(y.value) ? y.value : names[0], words);
      shown = names.join();
      const at = 1 + names.indexOf(y.value);
      curve.replaceChildren(chart(rows.map((row) => [row[0], row[at]]), words(x), words(y.value)));
    } else curve.replaceChildren(run.state === "running" ? h("p", { class: "soft" }, "The curve appears with the first numbers.") : "");
    best.replaceChildren(run.best ? h("figure", {}, drawing(run.best.svg, `The best game: ${run.best.status}`), h("figcaption", {}, `Best game so far: ${run.best.status}`)) : "");
    const rows = Object.entries(run.figures);
    figures.replaceChildren(rows.length ? h("table", {}, h("caption", {}, "Figures"), h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, words(name)), h("td", {}, Number.isInteger(value) ? value.toLocaleString("en") : short(value)))))) : "");
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
    state, progress, error, h("div", { class: "row" }, stop, resume, meet), h("div", { class: "two" }, h("div", {}, yField, curve), h("div", {}, best, figures)));
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
