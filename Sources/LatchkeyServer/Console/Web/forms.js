// Forms: labeled fields with hints, and the server's errors at the fields that they name.
import { h } from "./figures.js";

let count = 0;

// The children of a hint: `code`, and the texts of links.
export const marked = text => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").split("`").map((part, index) => index % 2 ? h("code", {}, part) : part);

// A field: its label, control, hint and room for an error. Several controls are a group. The place is the field's name in the server's errors.
export function entry(place, label, controls, hint) {
  const id = `entry-${++count}`;
  const list = [controls].flat();
  const [first] = list;
  const isGroup = first.localName === "div" || list[1]?.localName === "select";
  const described = hint ? `${id}-hint ${id}-error` : `${id}-error`;
  const attributes = { class: "entry", "data-place": place };
  if (isGroup) first.setAttribute("aria-label", label);
  else {
    first.id ||= id;
    first.setAttribute("aria-describedby", described);
  }
  const parts = [isGroup && list.length > 1 ? h("div", { class: "joined" }, list) : list, hint ? h("p", { class: "hint", id: `${id}-hint` }, marked(hint)) : null,
    h("p", { class: "bad", id: `${id}-error` })];
  return isGroup ? h("fieldset", { ...attributes, "aria-describedby": described }, h("legend", {}, label), parts)
    : h("div", attributes, h("label", { for: first.id }, label), parts);
}

export const input = (name, attributes = {}) => h("input", { name, autocomplete: "off", spellcheck: "false", ...attributes });
export const options = (name, values, attributes = {}) => h("select", { name, ...attributes }, values.map(([value, words]) => h("option", { value }, words)));

// A list of words of which any may be chosen.
export const checks = (name, values) => h("div", { class: "checks" }, values.map(value =>
  h("label", {}, h("input", { type: "checkbox", name, value }), " ", value)));

// Shows each problem at its field, or at the nearest one around it, and moves to the first. A problem of no field is shown above all.
export function place(form, problems) {
  const fields = [...form.querySelectorAll("[data-place]")];
  const texts = new Map();
  form.querySelectorAll("[aria-invalid]").forEach(one => one.removeAttribute("aria-invalid"));
  for (const { place, reason, remedy = "" } of problems) {
    const path = place.replace(/\[\d+\]/g, "");
    const owner = fields.filter(one => path === one.dataset.place || path.startsWith(`${one.dataset.place}.`))
      .sort((one, other) => other.dataset.place.length - one.dataset.place.length)[0];
    (owner?.querySelector(`[name="${CSS.escape(path)}"]`) ?? owner?.querySelector("input, select, textarea"))?.setAttribute("aria-invalid", "true");
    texts.set(owner, [...texts.get(owner) ?? [], `${owner || !place ? "" : `${place}: `}${reason} ${remedy}`.trim()]);
  }
  form.querySelector(".problems").textContent = (texts.get(undefined) ?? []).join(" ");
  for (const one of fields) one.lastElementChild.textContent = (texts.get(one) ?? []).join(" ");
  const invalid = [...form.querySelectorAll("[aria-invalid]")];
  for (const one of invalid) for (let outer = one; outer; outer = outer.parentElement) if (outer.localName === "details") outer.open = true;
  invalid[0]?.focus();
}

// A form that sends its values. The server's refusal is shown at its fields: by the places that it names, or by `owners`, the field of a code.
export function form(label, send, children, { owners = {}, isDangerous } = {}) {
  const element = h("form", {
    class: "fields", novalidate: true, submit: async event => {
      event.preventDefault();
      place(element, []);
      try { await send(Object.fromEntries(new FormData(element)), element); } catch (error) {
        const stated = error.message.match(/^The (?:member )?(\w+) is not /)?.[1];
        place(element, error.problems?.length ? error.problems : [{ place: owners[error.code] ?? stated ?? "", reason: error.message }]);
      }
    },
  }, h("p", { class: "problems bad", role: "alert" }), children, h("div", { class: "actions" }, h("button", { class: isDangerous ? "danger" : "primary" }, label)));
  return element;
}

// A problem that the page finds itself, before anything is sent.
export function problem(place, reason) { return Object.assign(new Error(reason), { problems: [{ place, reason }] }); }
