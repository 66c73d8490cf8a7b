// What belongs to a whole run. common.js and rounds.js come before it.

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
