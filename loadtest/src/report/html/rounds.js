// A round, as pages of runs show it. common.js comes before it.

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
  const slowest = latency.map(([, values], nth) => [nth, Math.min(126, y(values[4]) + 4)]).sort(([, one], [, other]) => other - one);
  const labels = new Map();
  let below = Infinity;
  // No name lies over another one.
  for (const [nth, wanted] of slowest) labels.set(nth, (below = Math.min(wanted, below - 12)));
  latency.forEach(([answer, values], nth) => {
    const points = values.map((value, at) => `${places[at][1]},${y(value).toFixed(1)}`).join(" ");
    svg.append(draw("polyline", { points, class: `line line-${nth % 4}` }),
      draw("text", { x: 348, y: labels.get(nth), class: `name line-${nth % 4}` }, `${data.answers[answer]} ${values[4].toFixed(0)} ms`));
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
