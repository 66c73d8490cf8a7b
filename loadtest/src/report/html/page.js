// What belongs to a whole run. common.js comes before it.

const plain = (name) => name.replaceAll("_", " ");

/** The three ledgers as bars of one scale: told sold, recorded, and what the counter says was taken. */
function ledgers(round) {
  const taken = round.left == null ? null : round.stock - round.left;
  const lines = [["stock", round.stock], ["told sold", round.sold], ["orders", round.recorded], ["taken from the counter", taken]];
  const most = Math.max(1, ...lines.map(([, units]) => Math.abs(units ?? 0)));
  return table(["ledger", "units", ""], lines.map(([name, units]) => {
    const bar = make("div", { class: name === "stock" ? "bar stock" : units > round.stock ? "bar over" : "bar" });
    bar.style.width = `${(Math.abs(units ?? 0) / most) * 100}%`;
    return [name, units ?? "cannot be read", make("td", { class: "bars" }, bar)];
  }), { class: "ledgers" });
}

/** The latencies on an axis of nines: each step to the right is ten times rarer. */
function latencies(round) {
  const heads = ["answer", "50 %", "95 %", "99 %", "99.9 %", "slowest"];
  const rows = round.latency.map(([answer, values]) => [data.answers[answer], ...values.map((value) => value.toFixed(1))]);
  return make("div", {}, nines(round.latency), table(heads, rows, { class: "latency" }));
}

const SVG = "http://www.w3.org/2000/svg";

function draw(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

function nines(latency) {
  const places = [["50 %", 30], ["95 %", 110], ["99 %", 190], ["99.9 %", 270], ["slowest", 340]];
  const all = latency.flatMap(([, values]) => values).filter((value) => value > 0);
  const [low, high] = [Math.min(...all), Math.max(...all)].map(Math.log10);
  const y = (value) => 110 - ((Math.log10(Math.max(value, 10 ** low)) - low) / (high - low || 1)) * 90;
  const svg = draw("svg", { viewBox: "0 0 480 140", role: "img", class: "nines", "aria-label": "latency of each kind of answer" });
  for (const [name, x] of places) {
    svg.append(draw("line", { x1: x, x2: x, y1: 15, y2: 115, class: "grid" }), draw("text", { x, y: 132, class: "tick" }, name));
  }
  latency.forEach(([answer, values], nth) => {
    const points = values.map((value, at) => `${places[at][1]},${y(value).toFixed(1)}`).join(" ");
    svg.append(draw("polyline", { points, class: `line line-${nth % 4}` }),
      draw("text", { x: 348, y: Math.min(126, y(values[4]) + 4), class: `name line-${nth % 4}` }, `${data.answers[answer]} ${values[4].toFixed(0)} ms`));
  });
  return svg;
}

function round(of) {
  const found = (of.findings ?? []).map(([name, size]) => `${plain(name)} ${size}`).join(", ") || of.verdict;
  const title = [of.phase, `repeat ${of.repeat}`, found].filter(Boolean).join(": ");
  const parts = [make("h3", {}, title)];
  if (of.timeline) parts.push(timeline(of.timeline));
  parts.push(ledgers(of), make("p", {}, `Units: ${of.told.map(([answer, units]) => `${data.answers[answer]} ${units}`).join(", ")}. ${of.sales_per_s} sales/s.`));
  if (of.latency) parts.push(latencies(of));
  if (of.notes) parts.push(make("ul", {}, ...of.notes.map((note) => make("li", {}, note))));
  return make("article", {}, ...parts);
}

/** Opens the rounds of a cell. The address names it, so that it can be sent to somebody. */
function open(place) {
  const button = document.querySelector(`[data-cell="${place}"]`);
  if (!button || !data.cells[place]) return;
  const column = button.closest("tr").children;
  const at = [...column].indexOf(button.closest("td"));
  find("cell-title").textContent = `${button.closest("tr").dataset.name}, ${document.querySelectorAll("#matrix thead th")[at].textContent}`;
  find("rounds").replaceChildren(make("p", {}, button.textContent), ...data.cells[place].map(round));
  if (!find("cell").open) find("cell").showModal();
  find("cell").scrollTop = 0;
  history.replaceState(null, "", `#cell-${place}`);
}

document.querySelector("#matrix tbody").addEventListener("click", (event) => {
  const button = event.target.closest("[data-cell]");
  if (button) open(Number(button.dataset.cell));
});
find("cell").querySelector(".close").addEventListener("click", () => find("cell").close());
find("cell").addEventListener("close", () => history.replaceState(null, "", "#matrix"));

function openNamed() {
  const named = /^#cell-(\d+)$/.exec(location.hash);
  if (named) open(Number(named[1]));
}
addEventListener("hashchange", openNamed);

/** Sorts the rows by their name, or by their cost, the dearest last. */
document.querySelector("#matrix thead").addEventListener("click", (event) => {
  const by = event.target.dataset.sort;
  if (!by) return;
  const body = document.querySelector("#matrix tbody");
  const key = by === "cost" ? (a, b) => b.dataset.cost - a.dataset.cost : (a, b) => a.dataset.name.localeCompare(b.dataset.name);
  body.append(...[...body.rows].sort(key));
});

function filter() {
  const [strategies, threats] = ["strategies", "threats"].map((id) => find(id).value.trim().toLowerCase());
  const heads = [...document.querySelectorAll("#matrix thead th")];
  const shown = heads.map((head, at) => at < 2 || `${head.dataset.threat} ${head.textContent}`.toLowerCase().includes(threats));
  const isWrong = (cell) => cell.matches(".fails, .not-as-claimed, .data-loss");
  heads.forEach((head, at) => { head.hidden = !shown[at]; });
  for (const row of document.querySelectorAll("#matrix tbody tr")) {
    const cells = [...row.cells];
    cells.forEach((cell, at) => { cell.hidden = !shown[at]; });
    const isBroken = !find("failing").checked || cells.some((cell, at) => shown[at] && isWrong(cell));
    row.hidden = !row.dataset.name.toLowerCase().includes(strategies) || !isBroken;
  }
}

/** The gravest letter under these threats: fails, loss of data, no test, holds, not tried. */
function under(strategy, threats) {
  const letters = threats.map((threat) => strategy.conclusions[data.threats.indexOf(threat)] ?? "-");
  return [..."fdnh"].find((letter) => letters.includes(letter)) ?? "-";
}

function choose() {
  const words = [...document.querySelectorAll("#fears input:checked")].map((box) => box.value);
  const feared = data.words.filter(([word]) => words.includes(word)).flatMap(([, threats]) => threats);
  const own = data.strategies.filter((strategy) => strategy.stores === find("stores").value);
  const holds = own.filter((strategy) => under(strategy, [...data.always, ...feared]) === "h");
  holds.sort((one, other) => other.cost[0] - one.cost[0]);
  const heads = ["strategy", "sales/s", "median ms", "99 % ms"];
  const rows = holds.map(({ name, cost }) => [name, cost[0].toFixed(0), cost[1].toFixed(1), cost[2].toFixed(1)]);
  const says = holds.length
    ? `${holds[0].name} is the fastest of ${holds.length} that hold. Of ${own.length} strategies on these stores ${own.length - holds.length} fail or were not tested.`
    : `None of ${own.length} strategies on these stores holds.`;
  find("chosen").replaceChildren(make("p", {}, make("strong", {}, says)), ...(rows.length ? [table(heads, rows)] : []));
}

const played = new Set(data.strategies.flatMap(({ conclusions }) => data.threats.filter((_, at) => conclusions[at] !== "-")));
for (const [word, threats] of data.words) {
  // What the run did not try cannot be asked for.
  if (threats.every((threat) => played.has(threat))) {
    find("fears").append(make("label", { title: threats.join(", ") }, make("input", { type: "checkbox", value: word }), ` ${word}`));
  }
}
find("choose").addEventListener("input", choose);
find("filter").addEventListener("input", filter);
for (const form of document.forms) form.addEventListener("submit", (event) => event.preventDefault());
find("filter").hidden = false;
find("choose").hidden = data.strategies.length < 2;
choose();
openNamed();
