// Building blocks of the pages: elements whose texts are texts, tables, dates, and the chart.

export const outcomes = ["granted", "acknowledged", "refused", "failed", "shed"];

// Control characters and marks that change the writing direction, by their numbers.
export function visible(value) {
  return String(value).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    one => one === "\n" ? one : "\\u{" + one.codePointAt(0).toString(16) + "}");
}

function append(element, children) {
  for (const child of children.flat()) {
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
    h("tbody", {}, rows.map(row => h("tr", {}, columns.map(([heading, cell]) => h("td", { "data-label": heading }, cell(row) ?? "–")))))));
}

// The members of an answer, each by its place: `validity.lease`.
function members(value, place = "") {
  if (value === null || typeof value !== "object") return [[place, String(value)]];
  if (Array.isArray(value) && value.every(one => one === null || typeof one !== "object")) return [[place, value.join(", ")]];
  return Object.entries(value).flatMap(([name, inner]) => members(inner, place ? `${place}.${name}` : name));
}

// A table of an answer's members, and the answer itself for who copies it.
export const listing = (caption, value) => [
  table(caption, [["What", ([name]) => name], ["Value", ([, text]) => text]], members(value)),
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

export function legend(totals) {
  return h("ul", { class: "legend" }, outcomes.map(name => h("li", {},
    svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { width: 10, height: 10, rx: 2, class: name })),
    name, " ", h("b", {}, number(totals[name])))));
}

export function niceTop(value) {
  const base = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  return [1, 2, 5, 10].map(step => step * base).find(top => top >= value);
}

// Stacked bars: one per second, the newest at the right, in the order of the outcomes from below.
export function chart(given, wanted) {
  const seconds = [...Array(Math.max(0, 59 - given.length)).fill({}), ...given];
  const [width, height, left, below] = [Math.max(240, wanted), 190, 34, 18];
  const sums = seconds.map(second => outcomes.reduce((sum, name) => sum + (second[name] ?? 0), 0));
  const [most, top] = [Math.max(0, ...sums), niceTop(Math.max(1, ...sums))];
  const y = value => 6 + (height - below - 6) * (1 - value / top);
  const step = (width - left) / Math.max(1, seconds.length);
  const total = sums.reduce((one, other) => one + other, 0);
  const words = `License requests per second in the last minute: ${total} in all, at most ${most} in a second.`;
  const picture = svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words,
  });
  for (const value of [0, top / 2, top]) {
    picture.append(svg("line", { x1: left, x2: width, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, value));
  }
  seconds.forEach((second, index) => {
    let reached = 0;
    for (const name of outcomes) {
      const count = second[name] ?? 0;
      if (!count) continue;
      picture.append(svg("rect", {
        class: name, x: left + index * step + 1, width: Math.max(1, step - 2), y: y(reached + count),
        height: Math.max(.5, y(reached) - y(reached + count)),
      }, svg("title", {}, `${count} ${name}`)));
      reached += count;
    }
  });
  picture.append(svg("text", { x: left, y: height - 3 }, "a minute ago"),
    svg("text", { x: width, y: height - 3, "text-anchor": "end" }, "now"));
  return picture;
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
