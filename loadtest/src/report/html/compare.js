// What belongs to the comparison of two runs. common.js and rounds.js come before it.

/** The rounds of one run under its name, or the words that there are none. */
const side = (name, rounds) =>
  make("div", {}, make("h3", {}, name), ...(rounds ? rounds.map(round) : [make("p", {}, "not there")]));

data.changes.forEach(({ before, after }, place) => find(`change-${place}`).append(
  make("div", { class: "sides" }, side("before", before), side("after", after))));
