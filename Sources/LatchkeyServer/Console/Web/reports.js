// The page of the record: figures of a range, concurrent viewers, an account's history, and all of it as CSV.
import { bar, choice, date, field, h, niceTop, number, section, svg, table } from "./figures.js";

const ranges = [["1h", "Last hour"], ["24h", "Last 24 hours"], ["7d", "Last 7 days"], ["30d", "Last 30 days"], ["90d", "Last 90 days"], ["", "Custom range"]];
const groupings = [["day", "Day"], ["hour", "Hour"], ["content", "Content"], ["account", "Account"], ["device", "Device"],
  ["country", "Country"], ["code", "Refusal code"], ["policy", "Policy"], ["node", "Node"], ["api", "API"]];
const events = [["", "All"], ["license", "Licenses"], ["renewal", "Renewals"], ["refusal", "Refusals"]];
const figures = ["licenses", "renewals", "refusals", "accounts", "devices", "sessions"];
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

function points({ points, from, to, bucketSeconds, most }, wanted) {
  const [width, height, left, below] = [Math.max(240, wanted), 190, 44, 18];
  const [begin, end, top] = [Date.parse(from), Date.parse(to), niceTop(Math.max(1, most))];
  const x = time => left + (width - left) * Math.min(1, Math.max(0, (time - begin) / (end - begin)));
  const y = value => 6 + (height - below - 6) * (1 - value / top);
  const shown = text => new Date(text).toISOString().replace("T", " ").slice(0, 16);
  const peak = points.find(point => point.viewers === most);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": `Concurrent viewers: at most ${most}${peak ? `, at ${shown(peak.time)}` : ""}.` });
  for (const value of [0, top / 2, top]) {
    picture.append(svg("line", { x1: left, x2: width, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value));
  }
  for (const { time, viewers } of points) {
    const [start, stop] = [Date.parse(time), Date.parse(time) + bucketSeconds * 1000];
    picture.append(svg("rect", { class: "granted", x: x(start), width: Math.max(1, x(stop) - x(start) - .5), y: y(viewers),
      height: Math.max(.5, y(0) - y(viewers)) }, svg("title", {}, `${shown(time)}: ${viewers}`)));
  }
  picture.append(svg("text", { x: left, y: height - 3 }, shown(from)), svg("text", { x: width, y: height - 3, "text-anchor": "end" }, shown(to)));
  return picture;
}

export async function reports(place, context) {
  const { ask, below, download, attempt, query, search, say } = context;
  const [counts, viewers, rows] = [h("div", {}), h("div", {}), h("div", {})];
  const asked = new Map();
  // Fills a part of the page. The old content is removed immediately, so that no figure is shown for another question.
  const fill = async (part, title, work) => {
    const mine = (asked.get(part) ?? 0) + 1;
    asked.set(part, mine);
    part.replaceChildren(section(title, h("p", { class: "empty", role: "status" }, "Querying the record.")));
    let children;
    try { children = await work(); } catch (error) {
      children = [h("p", { class: "bad", role: "alert" }, `No figures. ${error.message}`)];
    }
    if (asked.get(part) === mine) part.replaceChildren(section(title, ...children));
  };
  const save = (path, values, name) => h("button", { type: "button", click: attempt(async () => {
    await download(`${below(path)}?${query({ ...values, format: "csv" })}`, name);
    say("The file is complete.");
  }) }, "Download as CSV");

  const count = wanted => fill(counts, "Figures", async () => {
    const answer = await ask(`${below("report")}?${query({ ...wanted, limit: 1000 })}`);
    const { by, groups, groupCount, total } = answer;
    const group = one => by === "day" ? one.group.slice(0, 10) : by === "hour" ? one.group.slice(0, 16).replace("T", " ")
      : by === "account" && one.group ? h("button", { type: "button", class: "code", click: () => history({ recorded: one.group, ...range(wanted) }) }, one.group)
        : one.group || "(none)";
    return [...standing(answer), h("dl", { class: "tiles" }, figures.map(name => h("div", { class: "tile" }, h("dt", {}, capital(name)), h("dd", {}, number(total[name]))))),
      table(`${number(groups.length)} of ${number(groupCount)} by ${groupings.find(([name]) => name === by)[1].toLowerCase()}`,
        [[groupings.find(([name]) => name === by)[1], group], ...figures.map(name => [capital(name), one => number(one[name])])], groups),
      save("report", wanted, `report-by-${by}.csv`)];
  });
  const range = ({ last, from, to }) => ({ last, from, to });
  const watch = wanted => fill(viewers, "Concurrent viewers", async () => {
    const answer = await ask(`${below("viewers")}?${query(range(wanted))}`);
    if (!answer.points.length) return [...standing(answer), h("p", { class: "empty" }, "Viewers were not counted in this range.")];
    return [...standing(answer), points(answer, viewers.clientWidth - 34),
      h("p", { class: "empty" }, `At most ${number(answer.most)}. Each bar is the maximum in ${number(answer.bucketSeconds / 60)} min; a gap means that viewers were not counted.`),
      h("details", {}, h("summary", {}, "As a table"), table("Concurrent viewers", [["From (UTC)", one => date(one.time)], ["Viewers", one => number(one.viewers)]], answer.points)),
      save("viewers", range(wanted), "viewers.csv")];
  });
  const history = (wanted, before = "") => fill(rows, `History of ${wanted.account ?? wanted.recorded}`, async () => {
    const answer = await ask(`${below("history")}?${query({ ...wanted, before })}`);
    const alias = wanted.account !== undefined && answer.recorded !== wanted.account
      ? h("p", { class: "empty" }, `The record stores this account as ${answer.recorded}.`) : null;
    return [...standing(answer), alias, table("Newest first", [
      ["Time (UTC)", one => date(one.time)], ["Event", one => h("b", {}, one.count ? `${one.event} × ${number(one.count)}` : one.event)],
      ["Content", one => one.content], ["Device", one => one.device], ["Place", one => [one.country, one.address].filter(Boolean).join(", ") || null],
      ["Code", one => one.code ?? one.cause ? h("b", {}, one.code ?? one.cause) : null], ["Reason", one => one.reason],
      ["Request", one => one.requestId ? h("a", { class: "id", href: `#/decisions?${new URLSearchParams({ id: one.requestId })}` }, one.requestId) : null],
    ], answer.rows), h("div", { class: "pager" },
      before ? h("button", { type: "button", click: () => history(wanted) }, "Newest") : null,
      answer.next ? h("button", { type: "button", click: () => history(wanted, answer.next) }, "Earlier") : null,
      save("history", wanted, "history.csv"))];
  });

  const show = values => { const wanted = question(values); return Promise.all([count(wanted), watch(wanted)]); };
  const form = bar("Show", show, ...rangeFields(), choice("By", "by", groupings), choice("Event", "event", events),
    field("Account", "account", { type: "search" }), field("Content", "content", { type: "search" }), field("Refusal code", "code", { type: "search" }));
  const person = bar("Show history", values => history(question(values)), field("History of the account", "account", { type: "search", required: true }), ...rangeFields());
  place.replaceChildren(form, counts, viewers, person, rows);
  const account = search.get("account");
  if (account) {
    person.elements.account.value = account;
    history({ account, last: "7d" });
  }
  await show(Object.fromEntries(new FormData(form)));
}
