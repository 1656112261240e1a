// What happens now: figures, refusals, stores, and what needs attention.
import { chart, date, h, legend, number, pager, quantile, section, table, tile, why, whyBar } from "./figures.js";

const look = id => { location.hash = `#/decisions?${new URLSearchParams({ id })}`; };

// What somebody should do something about.
function attention(notices) {
  if (!notices.length) return h("p", { class: "calm" }, "Nothing needs attention.");
  return h("ul", { class: "attention" }, notices.map(text => h("li", {}, text)));
}

function stores({ engines, stores }) {
  const isOut = name => stores.some(one => one.outage && one.name.startsWith(name.replace(/s$/, "")));
  return table("Where the server remembers", [
    ["What", ([name]) => name], ["Engine", ([, engine]) => engine],
    ["State", ([name]) => isOut(name) ? h("span", { class: "bad" }, "out of service") : "answers"],
  ], Object.entries(engines));
}

const byCount = (caption, heading, counts) => table(caption, [
  [heading, ([name]) => name], ["Number", ([, count]) => number(count)],
], Object.entries(counts).sort((one, other) => other[1] - one[1]).slice(0, 12));

export const refusalColumns = [
  ["Time (UTC)", one => date(one.time)], ["Tenant", one => one.tenant], ["Code", one => h("b", {}, one.code)],
  ["Reason", one => one.reason], ["Request", one => why(one.requestId)],
];

// The texts of the tiles, from two readings of the times.
function readings(now, before) {
  const sessions = Object.values(now.sessions).reduce((sum, one) => sum + one, 0);
  return [number(now.seconds.at(-1)?.granted), quantile(.5, before, now.times), quantile(.99, before, now.times), number(sessions),
    number(now.pool.busy), `${number(now.pool.waiting)} of ${number(now.pool.limit)}`];
}

export async function overview(place, { ask, follow }) {
  const tiles = ["Licenses/s", "p50, last minute", "p99, last minute", "Sessions", "Threads busy", "Waiting"].map(tile);
  const [notices, drawing, key, latest, reasons, sessions, engines] = Array.from({ length: 7 }, () => h("div", {}));
  const kept = (await ask("refusals?limit=20")).refusals;
  const times = [];
  let isNew = true;
  place.replaceChildren(notices, h("div", { class: "tiles" }, tiles.map(one => one.element)),
    section("Requests per second, by outcome", drawing, key), whyBar(look),
    h("div", { class: "columns uneven" }, section("Latest refusals", latest), h("div", {}, section("Why requests are refused", reasons),
      section("Stores", engines), section("Sessions", sessions))));
  follow({
    overview: now => {
      times.push(now.times);
      if (times.length > 60) times.shift();
      readings(now, times.length > 1 ? times[0] : null).forEach((text, index) => tiles[index].set(text));
      notices.replaceChildren(attention(now.notices));
      drawing.replaceChildren(chart(now.seconds, drawing.clientWidth));
      key.replaceChildren(h("p", { class: "empty" }, "Since the start:"), legend(now.totals));
      reasons.replaceChildren(byCount("Since the start", "Code", now.reasons));
      sessions.replaceChildren(byCount("In use now", "Tenant", now.sessions));
      engines.replaceChildren(stores(now));
      // Once a second at most, however many come.
      if (isNew) latest.replaceChildren(table("The newest first", refusalColumns, kept));
      isNew = false;
    },
    refusal: one => {
      if (kept.some(known => known.number === one.number)) return;
      kept.unshift(one);
      kept.length = Math.min(kept.length, 20);
      isNew = true;
    },
  });
}

export async function refusals(place, { ask, attempt, query, session }) {
  const load = attempt(async before => {
    const { refusals } = await ask(`refusals?${query({ tenant: session.tenant, before })}`);
    place.replaceChildren(section("Requests without a license", table("This node's last 1,000, the newest first",
      [...refusalColumns.filter(([heading]) => heading !== "Tenant"), ["Key", one => one.kid]], refusals),
    pager(refusals.length < 50 ? null : refusals.at(-1).number, load, before ? () => load() : null)));
  });
  await load();
}
