// Building blocks of the pages: elements whose texts are texts, tables, dates, and the chart.

export const drms = { fairplay: "FairPlay", clearkey: "Clear Key", widevine: "Widevine", playready: "PlayReady", other: "other" };
export const outcomes = ["granted", "acknowledged", "refused", "failed", "shed"];

// Control characters and marks that change the writing direction, by their numbers.
export function visible(value) {
  return String(value).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    one => one === "\n" ? one : "\\u{" + one.codePointAt(0).toString(16) + "}");
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return element;
}

// An element: attributes by name, functions as listeners, and children that are nodes or texts.
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  return append(element, children);
}

export function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return append(element, children);
}

export function date(text) {
  const date = new Date(text);
  return h("time", { datetime: text }, isNaN(date) ? text : date.toISOString().replace("T", " ").slice(0, 19));
}

export const number = value => Number(value ?? 0).toLocaleString("en");

// A table: columns are [heading, row => node or text].
export function table(caption, columns, rows) {
  if (!rows.length) return h("p", { class: "empty" }, `${caption}: nothing here.`);
  return h("div", { class: "scroll" }, h("table", { class: columns.length > 2 ? "list" : "pairs" }, h("caption", {}, caption),
    h("thead", {}, h("tr", {}, columns.map(([heading]) => h("th", { scope: "col" }, heading)))),
    h("tbody", {}, rows.map(row => h("tr", {}, columns.map(([heading, cell]) => {
      const value = cell(row) ?? null;
      return h("td", { "data-label": heading, class: value === null ? "none" : null }, value ?? "–");
    }))))));
}

// The members of an answer, each by its place: `validity.lease`.
export function members(value, place = "") {
  if (value === null || typeof value !== "object") return [[place, String(value)]];
  if (Array.isArray(value) && value.every(one => one === null || typeof one !== "object")) return [[place, value.join(", ") || "none"]];
  return Object.entries(value).flatMap(([name, inner]) => members(inner, place ? `${place}.${name}` : name));
}

// A table of an answer's members, and the answer itself for who copies it.
export const listing = (caption, value) => [
  table(caption, [["Member", ([name]) => name], ["Value", ([, text]) => text]], members(value)),
  h("details", {}, h("summary", {}, "As JSON"), h("pre", {}, JSON.stringify(value, null, 2))),
];

export function tile(name) {
  const value = h("dd", {}, "–");
  return { element: h("dl", { class: "tile" }, h("dt", {}, name), value), set: text => { value.textContent = visible(text); } };
}

export const section = (title, ...children) => h("section", {}, h("h2", {}, title), ...children);
export const why = id => h("a", { class: "id", href: `#/decisions?${new URLSearchParams({ id })}` }, id);
export const whyBar = open => bar("Why?", ({ id }) => open(id.trim()), field("Why was this refused? A request's identifier", "id", { type: "search", required: true }));

export function field(label, name, attributes = {}) {
  return h("label", {}, label, h("input", { name, spellcheck: "false", autocomplete: "off", ...attributes }));
}

export const choice = (label, name, options, attributes = {}) => h("label", {}, label, h("select", { name, ...attributes },
  options.map(([value, words]) => h("option", { value }, words))));

export function bar(label, submit, ...children) {
  return h("form", {
    class: "bar", role: "search", submit: event => {
      event.preventDefault();
      submit(Object.fromEntries(new FormData(event.target)));
    },
  }, ...children, h("button", {}, label));
}

// Pages of a list, forward only: the server gives the cursor of the next one.
export function pager(next, more, first) {
  return h("div", { class: "pager" }, first ? h("button", { type: "button", click: first }, "First page") : null,
    next ? h("button", { type: "button", click: () => more(next) }, "Next page") : null);
}

export function legend(totals, names = outcomes) {
  return h("ul", { class: "legend" }, names.map(name => h("li", {},
    svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, rx: 2, class: name })),
    name, totals ? [" ", h("b", {}, number(totals[name]))] : null)));
}

export function niceTop(value) {
  const base = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map(step => step * base).find(top => top >= value);
}

// Values over time, from `from` to `to` in milliseconds: stacked bars of a step's width, or a line for each series.
// `points` are [time, values by name]. A missing value is a gap. `ends` are words in place of times below the picture.
export function chart(words, { points, from, to, step, series, isLine = false, shown = number, ends }, wanted) {
  const [width, height, left, below] = [Math.max(240, wanted), 190, 52, 18];
  const heights = points.map(([, values]) => series.map(name => values[name] ?? 0)).map(all => isLine ? Math.max(...all) : all.reduce((sum, one) => sum + one, 0));
  const top = niceTop(Math.max(1, ...heights));
  const x = time => left + (width - left) * Math.min(1, Math.max(0, (time - from) / (to - from)));
  const y = value => 6 + (height - below - 6) * (1 - value / top);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words });
  for (const value of [0, top / 2, top]) {
    picture.append(svg("line", { x1: left, x2: width, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value)));
  }
  if (isLine) {
    for (const name of series) {
      const path = points.map(([time, values], index) => values[name] === undefined ? ""
        : `${points[index - 1]?.[1][name] === undefined ? "M" : "L"}${x(time + step / 2)} ${y(values[name])}h.01`).join("");
      picture.append(svg("path", { class: name, d: path }));
    }
  } else {
    for (const [time, values] of points) {
      let reached = 0;
      for (const name of series.filter(name => values[name])) {
        picture.append(svg("rect", { class: name, x: x(time) + .5, width: Math.max(1, x(time + step) - x(time) - 1), y: y(reached + values[name]),
          height: Math.max(.5, y(reached) - y(reached + values[name])) }));
        reached += values[name];
      }
    }
  }
  const day = 86400000;
  const tick = to - from <= 2 * day ? day / 4 : day * Math.ceil((to - from) / day / (width < 500 ? 4 : 10));
  const ticks = ends ?? Array.from({ length: Math.floor(to / tick) - Math.ceil(from / tick) + 1 }, (_, index) => (Math.ceil(from / tick) + index) * tick);
  ticks.forEach((time, index) => picture.append(svg("text", { x: ends ? [left, width][index] : x(time), y: height - 3,
    "text-anchor": (ends ? index : x(time) > width - 20) ? "end" : ends || x(time) < left + 20 ? "start" : "middle" },
  ends ? time : new Date(time).toISOString().slice(...tick < day ? [11, 16] : [5, 10]))));
  return picture;
}

// A chart whose values are read with the pointer or the arrow keys.
export function readable(words, data, wanted) {
  const { points, from, to, step, series, shown = number } = data;
  const picture = chart(words, data, wanted);
  const cursor = svg("line", { class: "cursor", y1: 6, y2: 172 });
  const said = h("p", { class: "hint" }, "Point at the chart, or use the arrow keys, to read its values.");
  const [left, width] = [52, picture.viewBox.baseVal.width];
  let at = points.length;
  const box = h("div", { class: "readable", tabindex: 0, role: "slider", "aria-label": words, "aria-valuemin": 0, "aria-valuemax": points.length - 1, "aria-valuenow": 0 }, picture);
  const read = index => {
    at = Math.min(points.length - 1, Math.max(0, index));
    const [time, values] = points[at];
    const text = `${new Date(time).toISOString().replace("T", " ").slice(0, 16)} UTC: ${series.map(name => `${values[name] === undefined ? "no" : shown(values[name])} ${name}`).join(", ")}`;
    const place = left + (width - left) * (time + step / 2 - from) / (to - from);
    cursor.setAttribute("x1", place);
    cursor.setAttribute("x2", place);
    picture.append(cursor);
    said.textContent = text;
    box.setAttribute("aria-valuenow", at);
    box.setAttribute("aria-valuetext", text);
  };
  box.addEventListener("keydown", event => {
    const index = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: points.length - 1 }[event.key];
    if (index === undefined) return;
    event.preventDefault();
    read(index);
  });
  box.addEventListener("pointermove", event => {
    const time = from + (to - from) * ((event.clientX - box.getBoundingClientRect().x) / box.clientWidth * width - left) / (width - left);
    read(points.findLastIndex(([start]) => start <= time));
  });
  return [box, said];
}

// The time below which a share of the requests between two readings of the buckets stayed, in words.
export function quantile(share, before, after) {
  const counts = after.map(([bound, count], index) => [bound, count - (before?.[index]?.[1] ?? 0)]);
  const total = counts.at(-1)?.[1] ?? 0;
  if (!total) return "–";
  const [bound] = counts.find(([, count]) => count >= share * total) ?? [null];
  if (bound === null) return "> 2.5 s";
  return bound < 1 ? `≤ ${+(bound * 1000).toFixed(1)} ms` : `≤ ${bound} s`;
}
