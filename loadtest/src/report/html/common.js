"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);

/** Makes an element. Texts from the result are only ever set as text. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const ms = (us) => (us / 1000).toFixed(us < 100000 ? 3 : 1);

/** A table with these heads, and rows of texts or elements. */
function table(heads, rows, attributes = {}) {
  const cells = (tag, row) => row.map((cell) => (cell instanceof Node ? cell : make(tag, {}, String(cell))));
  return make("table", attributes,
    make("thead", {}, make("tr", {}, ...cells("th", heads))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells("td", row)))));
}

const STATES = { h: "holds", b: "believes" };
const MARKS = { read: "● ", write: "✎ ", wrong: "✘ ", event: "", "": "" };

/** A story: time from top to bottom, a column for the stores and one for each purchase. */
function timeline({ lanes, rows, words }, unit = "ms", at = ms) {
  const heads = [unit, "stores", ...lanes.map(([letter, buyer, instance]) => `${letter} at ${instance} (${buyer})`)];
  const lines = rows.map(([us, lane, text, mark = "", states = "", stores = ""]) => {
    const cells = lanes.map((_, place) => {
      const own = place === lane;
      const holding = STATES[states[place]];
      const cell = make("td", { class: ["lane", holding, own ? mark : ""].filter(Boolean).join(" ") });
      if (own) cell.append(MARKS[mark] + text, ...(mark === "wrong" ? [make("strong", {}, " (the first wrong write)")] : []));
      if (holding === "believes" && own) cell.append(make("em", {}, " (no longer holds the lock)"));
      return cell;
    });
    const row = make("tr", {}, make("td", { class: "at" }, at(us)), make("td", { class: "stores" }, stores));
    if (lane === null) {
      const event = make("td", { class: "event", colspan: lanes.length }, text);
      row.append(event);
    } else row.append(...cells);
    return row;
  });
  const fates = make("tr", {}, make("td"), make("td"), ...lanes.map((lane) => make("td", { class: "fate" }, lane[3])));
  const head = make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text))));
  return make("section", { class: "timeline" },
    make("div", { class: "wide" }, make("table", {}, head, make("tbody", {}, ...lines, fates))),
    make("p", { class: "key" },
      make("span", { class: "holds" }, " holds the lock "), " ",
      make("span", { class: "believes" }, " believes that it holds the lock, and does not "), " ● read ✎ write ✘ first wrong write"),
    make("p", {}, words));
}
