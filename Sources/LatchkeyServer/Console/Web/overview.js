// What happens now: figures, refusals, stores, and what needs attention.
import { chart, date, h, legend, number, outcomes, pager, quantile, section, table, tile, why, whyBar } from "./figures.js";

const look = id => { location.hash = `#/decisions?${new URLSearchParams({ id })}`; };

// Notices that need an operator's action.
function attention(notices) {
  if (!notices.length) return h("p", { class: "calm" }, "Nothing needs attention.");
  return h("ul", { class: "attention" }, notices.map(text => h("li", {}, text)));
}

// The state of an engine: it answers if it did within ten seconds.
function state({ state, trouble, answered }) {
  if (state === "away") return h("span", { class: "bad" }, trouble);
  return state === "answers" || !answered ? (answered ? "answers" : "not queried yet") : ["answered at ", date(answered)];
}

// Of an engine that is away it is why; else it has been.
const lastError = ({ state, error, failed }) => error && state !== "away" ? [date(failed), ": ", error] : error;

function stores({ engines }) {
  return table("By name", [
    ["Name", one => one.tenant ? `${one.words} of ${one.tenant}` : one.words], ["Engine", one => one.engine],
    ["State", state], ["Since", one => one.since ? date(one.since) : null], ["Last error", lastError],
  ], engines);
}

const byCount = (caption, heading, counts) => table(caption, [
  [heading, ([name]) => name], ["Number", ([, count]) => number(count)],
], Object.entries(counts).sort((one, other) => other[1] - one[1]).slice(0, 12));

export const refusalColumns = [
  ["Time (UTC)", one => date(one.time)], ["Tenant", one => one.tenant], ["Code", one => h("b", {}, one.code)],
  ["Reason", one => one.reason], ["Request", one => why(one.requestId)],
];

// Refusals, brief where the window is narrow.
const refusalTable = (caption, columns, rows) => {
  const element = table(caption, columns, rows);
  element.classList.add("brief");
  return element;
};

// One row for the refusals of one code, tenant and reason that came one after the other.
function grouped(refusals) {
  const groups = [];
  for (const one of refusals) {
    const last = groups.at(-1);
    if (last && last.code === one.code && last.tenant === one.tenant && last.reason === one.reason) last.count += 1;
    else groups.push({ ...one, count: 1 });
  }
  return groups;
}

// A number of sessions, which is a lower bound where there were too many to count.
const atLeast = (text, isBound) => isBound ? `at least ${text}` : text;

// The texts of the tiles, from two readings of the times.
function readings(now, before) {
  const sessions = Object.values(now.sessions).reduce((sum, one) => sum + one, 0);
  return [number(now.seconds.at(-1)?.granted), quantile(.5, before, now.times), quantile(.99, before, now.times), atLeast(number(sessions), now.sessionsAtLeast?.length),
    // Threads are the whole server's: an operator of some tenants has no figures of them.
    now.pool ? number(now.pool.busy) : "–", now.pool ? `${number(now.pool.waiting)} of ${number(now.pool.limit)}` : "–"];
}

// The requests of the last minute.
function perSecond(given, wanted) {
  const sums = given.map(second => outcomes.reduce((sum, name) => sum + (second[name] ?? 0), 0));
  const total = sums.reduce((one, other) => one + other, 0);
  return chart(`License requests per second in the last minute: ${total} in all, at most ${Math.max(0, ...sums)} in a second.`, {
    points: given.map((second, index) => [60 - given.length + index, second]), from: 0, to: 60, step: 1, series: outcomes, ends: ["a minute ago", "now"] }, wanted);
}

export async function overview(place, { ask, follow }) {
  const tiles = ["Licenses/s", "p50, last minute", "p99, last minute", "Sessions", "Threads busy", "Waiting"].map(tile);
  const [notices, drawing, key, latest, reasons, sessions, engines] = Array.from({ length: 7 }, () => h("div", {}));
  const node = h("p", { class: "empty" });
  const kept = (await ask("refusals?limit=50")).refusals;
  const times = [];
  let isNew = true;
  const services = section("Stores and services", engines);
  services.classList.add("engines");
  place.replaceChildren(node, notices, h("div", { class: "tiles" }, tiles.map(one => one.element)),
    section("Requests per second, by outcome", drawing, key), services, whyBar(look),
    h("div", { class: "columns uneven" }, section("Latest refusals", latest), h("div", {}, section("Refusals by code", reasons),
      section("Sessions", sessions))));
  follow({
    overview: now => {
      times.push(now.times);
      if (times.length > 60) times.shift();
      readings(now, times.length > 1 ? times[0] : null).forEach((text, index) => tiles[index].set(text));
      notices.replaceChildren(attention(now.notices));
      drawing.replaceChildren(perSecond(now.seconds, drawing.clientWidth));
      key.replaceChildren(h("p", { class: "empty" }, "Since the start:"), legend(now.totals));
      reasons.replaceChildren(byCount("Since the start", "Code", now.reasons));
      sessions.replaceChildren(table("In use now", [
        ["Tenant", ([name]) => name],
        ["Number", ([name, count]) => atLeast(number(count), now.sessionsAtLeast?.includes(name))],
      ], Object.entries(now.sessions).sort((one, other) => other[1] - one[1]).slice(0, 12)));
      node.replaceChildren(`Node ${now.node}: ${now.readiness?.status ?? ""}`);
      engines.replaceChildren(stores(now));
      // Once a second at most, however many come.
      const rows = matchMedia("(max-width: 40rem)").matches ? 8 : 20;
      if (isNew) latest.replaceChildren(refusalTable("Newest first",
        [...refusalColumns, ["Times", one => number(one.count)]], grouped(kept).slice(0, rows)),
      h("a", { href: "#/refusals" }, "All refusals"));
      isNew = false;
    },
    refusal: one => {
      if (kept.some(known => known.number === one.number)) return;
      kept.unshift(one);
      kept.length = Math.min(kept.length, 200);
      isNew = true;
    },
  });
}

export async function refusals(place, { ask, attempt, query, session }) {
  const load = attempt(async before => {
    const { refusals } = await ask(`refusals?${query({ tenant: session.tenant, before })}`);
    place.replaceChildren(section("Requests without a license", refusalTable(`The last 1,000 of node ${session.node}, newest first`,
      [...refusalColumns.filter(([heading]) => heading !== "Tenant"), ["Key", one => one.kid]], refusals),
    pager(refusals.length < 50 ? null : refusals.at(-1).number, load, before ? () => load() : null)));
  });
  await load();
}
