// What belongs to the schedules of the explorer. common.js comes before it.

/** The number of the choice at which something happens, from 1. */
const choice = (us) => String(us / 1000);

data.forEach((drawn, place) => find(`schedule-${place}`).append(timeline(drawn, "choice", choice)));
