// The live page. common.js and rounds.js come before it.

const LEDGERS = [["left", "in the counter"], ["recorded", "orders"], ["told", "told sold"]];

// The address carries the token once: it is taken out of it, so that a projector does not show it.
const given = /^#token=(.+)$/.exec(location.hash);
if (given) {
  sessionStorage.setItem("token", given[1]);
  history.replaceState(null, "", location.pathname);
}
const token = sessionStorage.getItem("token");

let lesson = 0;
let isRunning = false;

function say(text) {
  find("says").textContent = text;
}

/** Asks the server to start or to stop. It needs the token. */
async function ask(method, body, what = "run") {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  const response = await fetch(what, { method, headers, body: body && JSON.stringify(body) });
  if (!response.ok) say(await response.text());
  return response.ok;
}

function request() {
  const number = (id) => Number(find(id).value);
  return {
    strategies: [find("left").value, find("right").value],
    threat: find("threat").value,
    instances: number("instances"),
    buyers: number("buyers"),
    items: number("items"),
    stock: number("stock"),
    in_turn: find("in_turn").checked,
  };
}

/** Shows a lab, and chooses its run. A lab without one is played in a terminal. */
function choose(place) {
  lesson = place;
  const { situation, commands, run } = data.lessons[place];
  find("situation").textContent = situation;
  find("commands").textContent = commands;
  find("commands").parentElement.open = !run;
  if (run) {
    const { strategies: [left, right], in_turn, ...settings } = run;
    for (const [id, value] of Object.entries({ left, right, ...settings })) find(id).value = value;
    find("in_turn").checked = in_turn;
  }
  enable();
  document.querySelectorAll("[data-lesson]").forEach((button, nth) => button.setAttribute("aria-pressed", nth === place));
}

function enable() {
  find("start").disabled = isRunning || !token || !data.lessons[lesson].run;
  find("stop").disabled = !isRunning || !token;
}

/** The units of a side as bars, with a mark where the stock ends. */
function bars(side) {
  const most = Math.max(1, side.stock, ...LEDGERS.map(([name]) => Math.abs(side[name] ?? 0)));
  const lines = LEDGERS.map(([name, words]) => {
    const units = side[name];
    const bar = make("div", { class: name === "left" ? "bar stock" : units > side.stock ? "bar over" : "bar" });
    bar.style.width = `${(Math.abs(units ?? 0) / most) * 100}%`;
    return [words, make("td", { class: "units" }, String(units ?? "?")), make("td", { class: "bars" }, bar)];
  });
  return table(["ledger", "units", `of ${side.stock}`], lines, { class: "ledgers large" });
}

function side(of) {
  const parts = [make("h2", {}, of.strategy), make("p", { class: "phase" }, of.says), bars(of)];
  if (of.overlaps != null) parts.push(make("p", { class: of.overlaps ? "warning" : "" }, `Two purchases held the lock at once: ${of.overlaps} times`));
  if (of.result) {
    parts.push(make("p", { class: "verdict" }, of.result.verdict), ...of.result.unplayed.map((why) => make("p", {}, why)));
    parts.push(...of.result.rounds.map(round));
  }
  return make("div", {}, ...parts);
}

/** A side is drawn anew only when it has changed: an open picture keeps its place. */
const drawn = [];
function show(state) {
  isRunning = state.is_running;
  enable();
  state.sides.forEach((of, nth) => {
    const text = JSON.stringify(of);
    if (drawn[nth]?.text === text) return;
    const element = side(of);
    if (drawn[nth]) drawn[nth].element.replaceWith(element);
    else find("sides").append(element);
    drawn[nth] = { text, element };
  });
  showSteps(state.steps);
  const waits = token ? "" : "You may watch. To start a run, open the address with its token.";
  say(isRunning ? `${state.threat}: goes on` : state.sides.length ? `${state.threat}: over` : waits);
}

/** The schedule whose steps a visitor chooses. Only a visitor with the token has buttons that work. */
function showSteps(steps) {
  const isOpen = steps && steps.over === null;
  find("begin").disabled = isOpen || !token;
  find("leave").disabled = !isOpen || !token;
  if (!steps) return;
  find("happened").textContent = `${steps.lab}\n\n${steps.happened}`;
  find("stores").textContent = steps.stores;
  find("over").textContent = steps.over ?? "";
  const buttons = steps.choices.map((words, nth) => {
    const button = make("button", { type: "button" }, words);
    button.disabled = !token;
    button.addEventListener("click", () => ask("PUT", { number: nth + 1 }, "steps"));
    return button;
  });
  find("choices").replaceChildren(...buttons);
}

find("steps").addEventListener("submit", (event) => {
  event.preventDefault();
  ask("POST", { lab: Number(find("lab").value) }, "steps");
});
find("leave").addEventListener("click", () => ask("DELETE", undefined, "steps"));
find("request").addEventListener("submit", (event) => {
  event.preventDefault();
  ask("POST", request());
});
find("stop").addEventListener("click", () => ask("DELETE"));
find("next").addEventListener("click", () => choose((lesson + 1) % data.lessons.length));
for (const button of document.querySelectorAll("[data-lesson]")) button.addEventListener("click", () => choose(Number(button.dataset.lesson)));
choose(0);
show({ is_running: false, threat: "", sides: [], steps: null });

const events = new EventSource("events");
events.addEventListener("message", (event) => show(JSON.parse(event.data)));
events.addEventListener("error", () => say("The server does not answer."));
