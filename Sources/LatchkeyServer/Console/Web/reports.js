// The record: figures and charts of a range, concurrent viewers, an account's history, and all of it as CSV.
import { bar, choice, date, field, h, legend, number, readable, section, table, why } from "./figures.js";

const ranges = [["1h", "Last hour"], ["24h", "Last 24 hours"], ["7d", "Last 7 days"], ["30d", "Last 30 days"], ["90d", "Last 90 days"], ["", "Custom range"]];
const groupings = [["day", "Day"], ["hour", "Hour"], ["content", "Content"], ["account", "Account"], ["device", "Device"],
  ["country", "Country"], ["code", "Refusal code"], ["policy", "Policy"], ["node", "Node"], ["api", "API"], ["drm", "DRM"]];
const events = [["", "All"], ["license", "Licenses"], ["renewal", "Renewals"], ["refusal", "Refusals"]];
const figures = ["licenses", "renewals", "refusals", "accounts", "devices", "sessions"];
const figure = value => value === undefined ? null : number(value);
const capital = word => word[0].toUpperCase() + word.slice(1);

// A form's applicable values: days only if no length is chosen.
function question({ last, from, to, ...rest }) {
  const wanted = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, value.trim()]));
  return last ? { ...wanted, last } : { ...wanted, from, to };
}

function rangeFields() {
  const days = [field("From day (UTC)", "from", { type: "date" }), field("To day (UTC)", "to", { type: "date" })];
  const show = chosen => days.forEach(day => { day.hidden = chosen !== ""; day.firstElementChild.required = chosen === ""; });
  const range = choice("Range", "last", ranges, { change: event => show(event.target.value) });
  range.querySelector("select").value = "7d";
  show("7d");
  return [range, ...days];
}

// The notes about missing rows, and the time of the figures.
const standing = ({ from, to, asOf, notes }) => [
  h("p", { class: "calm" }, "From ", date(from), " to ", date(to), " (UTC), as of ", date(asOf), "."),
  notes.length ? h("ul", { class: "notes" }, notes.map(note => h("li", {}, note))) : null,
];

// A part of the page that is filled from the record. The old content is removed immediately, so that no figure is shown for another question.
function filler() {
  const asked = new Map();
  return async (part, title, work) => {
    const mine = (asked.get(part) ?? 0) + 1;
    asked.set(part, mine);
    part.replaceChildren(section(title, h("p", { class: "empty", role: "status" }, "Querying the record.")));
    let children;
    try { children = await work(); } catch (error) {
      children = [h("p", { class: "bad", role: "alert" }, `No figures. ${error.message}`)];
    }
    if (asked.get(part) === mine) part.replaceChildren(section(title, ...children));
  };
}

const saver = ({ attempt, below, download, query, say }) => (path, values, name) => h("button", { type: "button", click: attempt(async () => {
  await download(`${below(path)}?${query({ ...values, format: "csv" })}`, name);
  say("The file is complete.");
}) }, "Download as CSV");

// The outcomes of an account's requests, page by page. `otherwise` is shown if the server has no record.
export async function history(part, context, asked, otherwise) {
  const { ask, below, query } = context;
  const [fill, save, list] = [filler(), saver(context), h("div", {})];
  const load = (wanted, before = "") => fill(list, `History of ${wanted.account ?? wanted.recorded}`, async () => {
    let answer;
    try { answer = await ask(`${below("history")}?${query({ ...wanted, before, limit: 25 })}`); } catch (error) {
      if (!otherwise || error.code !== "recordNone") throw error;
      return [h("p", { class: "empty" }, "This server keeps no record, so only this node's latest decisions are known."), otherwise];
    }
    const alias = wanted.account !== undefined && answer.recorded !== wanted.account
      ? h("p", { class: "empty" }, `The record stores this account as ${answer.recorded}.`) : null;
    return [...standing(answer), alias, table("Newest first", [
      ["Time (UTC)", one => date(one.time)], ["Event", one => h("b", { class: one.event === "refusal" ? "bad" : null }, one.count ? `${one.event} × ${number(one.count)}` : one.event)],
      ["Content", one => one.content], ["Device", one => one.device], ["Place", one => [one.country, one.address].filter(Boolean).join(", ") || null],
      ["Code", one => one.code ?? one.cause ? h("b", {}, one.code ?? one.cause) : null], ["Reason", one => one.reason],
      ["Request", one => one.requestId ? why(one.requestId) : null],
    ], answer.rows), h("div", { class: "pager" },
      before ? h("button", { type: "button", click: () => load(wanted) }, "Newest") : null,
      answer.next ? h("button", { type: "button", click: () => load(wanted, answer.next) }, "Earlier") : null,
      save("history", wanted, "history.csv"))];
  });
  part.replaceChildren(bar("Show history", values => load({ ...question(values), account: asked.account, recorded: asked.recorded }), ...rangeFields(),
    choice("Event", "event", [...events, ["end", "Ends of sessions"]])), list);
  await load(asked);
}

const hour = 3600000;
const milliseconds = value => value === undefined ? undefined : value / 1000;
const inMilliseconds = value => `${+value.toFixed(1)} ms`;
const hasLatency = groups => groups.some(one => one.p50Microseconds !== undefined);

// The columns of a report's figures, with latency where the record has it.
const figureColumns = groups => [...figures.map(name => [capital(name), one => figure(one[name])]),
  ...(hasLatency(groups) ? ["p50", "p95"] : []).map(name => [name, one => {
    const value = milliseconds(one[`${name}Microseconds`]);
    return value === undefined ? null : inMilliseconds(value);
  }])];

// The charts of a report by hour or day: requests, and the latency of licenses where the record has it.
function overTime({ by, from, to, groups }, wanted) {
  const step = by === "hour" ? hour : 24 * hour;
  const [begin, end] = [Math.floor(Date.parse(from) / step) * step, Math.max(Date.parse(to), Date.parse(from) + 1)];
  const known = new Map(groups.map(one => [Date.parse(one.group), one]));
  const starts = Array.from({ length: Math.ceil((end - begin) / step) }, (_, index) => begin + index * step);
  const data = values => ({ points: starts.map(time => [time, values(known.get(time) ?? {})]), from: begin, to: begin + starts.length * step, step });
  const requests = { ...data(one => ({ licenses: one.licenses, renewals: one.renewals, refusals: one.refusals })), series: ["licenses", "renewals", "refusals"] };
  const most = groups.toSorted((one, other) => other.licenses - one.licenses)[0];
  const parts = [h("h3", {}, `Requests by ${by}`),
    ...readable(`Requests by ${by}${most ? `: at most ${number(most.licenses)} licenses, ${most.group.replace("T", " ").slice(0, 16)}` : ""}`, requests, wanted), legend(null, requests.series)];
  if (!hasLatency(groups)) return parts;
  const latency = { ...data(one => ({ p50: milliseconds(one.p50Microseconds), p95: milliseconds(one.p95Microseconds) })), series: ["p50", "p95"], isLine: true, shown: inMilliseconds };
  return [...parts, h("h3", {}, "Latency of licenses and renewals"), ...readable(`Latency by ${by}`, latency, wanted), legend(null, latency.series)];
}

export async function reports(place, context) {
  const { ask, below, query } = context;
  const [counts, viewers, rows] = [h("div", {}), h("div", {}), h("div", {})];
  const [fill, save] = [filler(), saver(context)];

  const count = wanted => fill(counts, "Figures", async () => {
    const report = by => ask(`${below("report")}?${query({ ...wanted, by, limit: 1000 })}`);
    const answer = await report(wanted.by);
    const { by, groups, groupCount, total } = answer;
    const timely = Date.parse(answer.to) - Date.parse(answer.from) <= 8 * 24 * hour ? "hour" : "day";
    const times = by === timely ? answer : await report(timely);
    const group = one => by === "day" ? one.group.slice(0, 10) : by === "hour" ? one.group.slice(0, 16).replace("T", " ")
      : by === "account" && one.group ? h("button", { type: "button", class: "code", click: () => history(rows, context, { recorded: one.group, ...range(wanted) }) }, one.group)
        : one.group || "(none)";
    return [...standing(answer), h("dl", { class: "tiles" }, figures.map(name => h("div", { class: "tile" }, h("dt", {}, capital(name)), h("dd", {}, figure(total[name]) ?? "–")))),
      ...overTime(times, counts.clientWidth - 34),
      times === answer ? null : h("details", {}, h("summary", {}, "The charts as a table"), table(`By ${timely}`, [["Time (UTC)", one => date(one.group)],
        ...figureColumns(times.groups)], times.groups)),
      table(`${number(groups.length)} of ${number(groupCount)} by ${groupings.find(([name]) => name === by)[1].toLowerCase()}`,
        [[groupings.find(([name]) => name === by)[1], group], ...figureColumns(groups)], groups),
      save("report", wanted, `report-by-${by}.csv`)];
  });
  const range = ({ last, from, to }) => ({ last, from, to });
  const watch = wanted => fill(viewers, "Concurrent viewers", async () => {
    const answer = await ask(`${below("viewers")}?${query(range(wanted))}`);
    if (!answer.points.length) return [...standing(answer), h("p", { class: "empty" }, "Viewers were not counted in this range.")];
    return [...standing(answer), ...readable(`Concurrent viewers: at most ${number(answer.most)}`, { points: answer.points.map(one => [Date.parse(one.time), one]), from: Date.parse(answer.from),
      to: Date.parse(answer.to), step: answer.bucketSeconds * 1000, series: ["viewers"] }, viewers.clientWidth - 34),
      h("p", { class: "empty" }, `At most ${number(answer.most)}. Each bar is the maximum in ${number(answer.bucketSeconds / 60)} min; a gap means that viewers were not counted.`),
      h("details", {}, h("summary", {}, "As a table"), table("Concurrent viewers", [["From (UTC)", one => date(one.time)], ["Viewers", one => number(one.viewers)]], answer.points)),
      save("viewers", range(wanted), "viewers.csv")];
  });
  const show = values => { const wanted = question(values); return Promise.all([count(wanted), watch(wanted)]); };
  const form = bar("Show", show, ...rangeFields(), choice("By", "by", groupings), choice("Event", "event", events),
    field("Account", "account", { type: "search" }), field("Content", "content", { type: "search" }), field("Refusal code", "code", { type: "search" }));
  place.replaceChildren(form, counts, viewers, rows);
  await show(Object.fromEntries(new FormData(form)));
}
