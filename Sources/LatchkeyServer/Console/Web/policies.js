// Policies as forms. The server describes the members in its API's description; this page adds their order and titles.
import { h, members, section, table } from "./figures.js";
import { checks, entry, form, input, options } from "./forms.js";

const sections = {
  validity: ["How long licenses last", "type lease rental storage playback renewAt jitter begin end afterFirstPlay"],
  concurrency: ["Streams at the same time", "limit perClass scope mode grace heartbeat"],
  devices: ["Devices of an account", "limit window allow"], stream: ["Playback from the network", "allow"],
  download: ["Downloads", "allow storage playback renew perTitle perAccount"],
  output: ["HDCP and outputs", "hdcp airPlay adapter"], tracks: ["Tracks", "allow otherwise"],
  place: ["Countries and addresses", "allow deny whenUnknown trust anonymizers addresses denyAddresses"],
  token: ["Tokens", "singleUse reuse maxAge bindIP mayWiden"], limits: ["Rate of requests", "licensesPerMinute"],
  outage: ["During an outage", "sessionStore tokenStore geo callout"], client: ["Required of the device", "requires protocolVersions"],
  blocked: ["Blocked names", "users devices tokens contents"], messages: ["Messages to viewers", ""], extends: ["Based on another policy", ""],
};
const spelled = { hdcp: "HDCP", airPlay: "AirPlay", bindIP: "Bind to an IP address", geo: "Source of countries", drm: "DRM" };
// The durations that a kind of validity has; of another kind all are shown.
const durations = { unlimited: "", persistent: "", lease: "lease", rental: "rental", leaseAndRental: "lease rental", persistentFor: "storage",
  dualExpiry: "storage playback" };
const units = [["s", "seconds"], ["m", "minutes"], ["h", "hours"], ["d", "days"]];
const label = name => spelled[name] ?? (/^[A-Z]/.test(name) ? name : (name[0].toUpperCase() + name.slice(1)).replace(/(?<=[a-z])[A-Z]/g, one => ` ${one.toLowerCase()}`));
const json = value => JSON.stringify(value, null, 2);
const unstated = ["", "Not stated"];

// A field of a member by its schema: elements, and how its value is read and written. `undefined` is not stated.
function control(path, schema) {
  const single = (element, read = text => text, write = value => value) => ({
    elements: [element], read: () => element.value.trim() === "" ? undefined : read(element.value.trim()),
    write: value => { element.value = value === undefined ? "" : write(value); } });
  if (schema.type === "boolean") return single(options(path, [unstated, ["true", "Yes"], ["false", "No"]]), text => text === "true", String);
  if (schema.enum) return single(options(path, [unstated, ...schema.enum.map(word => [word, word])]));
  if (schema.type === "integer" || schema.type === "number") {
    return single(input(path, { inputmode: "decimal", placeholder: schema.minimum === undefined ? null : `${schema.minimum} to ${schema.maximum}` }),
      text => isNaN(text) ? text : Number(text), String);
  }
  if (schema.format === "date-time") return single(input(path, { placeholder: "2026-12-31T20:00:00Z" }));
  if (schema.examples) {
    const list = h("datalist", { id: `list-${path}` }, schema.examples.map(value => h("option", { value })));
    const field = single(input(path, { list: list.id, placeholder: schema.examples.join(", ") }));
    return { ...field, elements: [...field.elements, list] };
  }
  if (schema.pattern?.includes("smhd")) {
    const [size, unit] = [input(path, { inputmode: "numeric" }), options(`${path} unit`, units, { "aria-label": "Unit" })];
    return {
      elements: [size, unit], read: () => size.value.trim() === "" ? undefined : size.value.trim() + unit.value,
      write: value => { [, size.value, unit.value] = String(value ?? "m").match(/^(.*?)([smhd]?)$/); } };
  }
  if (schema.type === "array" && schema.items.enum) {
    const element = checks(path, schema.items.enum);
    const boxes = [...element.querySelectorAll("input")];
    return {
      elements: [element], read: () => boxes.some(box => box.checked) ? boxes.filter(box => box.checked).map(box => box.value) : undefined,
      write: value => boxes.forEach(box => { box.checked = value?.includes(box.value) ?? false; }) };
  }
  if (schema.type === "array") {
    const isNumber = schema.items.type === "integer";
    return single(h("textarea", { name: path, rows: 2, spellcheck: "false", placeholder: "One per line" }),
      text => text.split("\n").map(line => line.trim()).filter(Boolean).map(line => isNumber && !isNaN(line) ? Number(line) : line), value => value.join("\n"));
  }
  if (schema.propertyNames?.enum) {
    const inner = schema.propertyNames.enum.map(name => [name, control(`${path}.${name}`, schema.additionalProperties)]);
    return {
      elements: [h("div", { class: "grid" }, inner.map(([name, { elements }]) => h("label", {}, label(name), " ", elements)))],
      read: () => {
        const stated = inner.map(([name, one]) => [name, one.read()]).filter(([, value]) => value !== undefined);
        return stated.length ? Object.fromEntries(stated) : undefined;
      },
      write: value => inner.forEach(([name, one]) => one.write(value?.[name])) };
  }
  return schema.type === "string" ? single(input(path)) : null;
}

// The stated members of a section, in one line.
const brief = value => value === undefined ? "not stated" : members(value).map(([name, text]) => name ? `${name} ${text}` : text).join(" · ");

// A policy's fields, and its JSON, which also takes the members that the fields do not have. `text` gives the JSON.
async function editor(ask, policy, isOpen) {
  const { components } = await ask("openapi.json");
  const schema = components.schemas.Policy.properties;
  const text = h("textarea", { id: "policy", name: "json", spellcheck: "false" });
  const [fields, groups] = [[], []];
  let value = policy;
  const show = () => {
    const type = value.validity?.type;
    for (const { path: [outer, name], element, read } of fields) {
      if (outer === "validity" && Object.values(durations).join(" ").split(" ").includes(name)) {
        element.hidden = read() === undefined && !(durations[type ?? "unlimited"] ?? name).split(" ").includes(name);
      }
    }
    for (const { name, said } of groups) said.textContent = brief(value[name]);
  };
  const fill = () => {
    for (const { path, write } of fields) write(path.reduce((inner, name) => inner?.[name], value));
    show();
  };
  const collect = () => {
    value = structuredClone(value);
    for (const { path: [outer, name], read } of fields) {
      const [holder, last] = name === undefined ? [value, outer] : [value[outer] ??= {}, name];
      const stated = read();
      if (stated === undefined) delete holder[last];
      else holder[last] = stated;
      if (name !== undefined && !Object.keys(holder).length) delete value[outer];
    }
    text.value = json(value);
    show();
  };
  // A section, or a member without members as its own section.
  const group = name => {
    const [title, order] = sections[name] ?? [label(name), ""];
    const shape = schema[name].properties;
    const ordered = order.split(" ").filter(one => shape?.[one]);
    const names = shape ? [...ordered, ...Object.keys(shape).filter(one => !ordered.includes(one)).sort()] : [undefined];
    let hint;
    const entries = names.flatMap(one => {
      const [path, own] = one === undefined ? [[name], schema[name]] : [[name, one], shape[one]];
      const made = control(path.join("."), own);
      if (!made) return [];
      const said = own.description === hint ? null : hint = own.description;
      const element = entry(path.join("."), label(one ?? name), made.elements, said);
      fields.push({ path, element, ...made });
      return [element];
    });
    const said = h("span", { class: "hint" });
    groups.push({ name, said });
    return h("details", { open: isOpen && name === "validity" }, h("summary", {}, h("b", {}, title), " ", said), h("div", { class: "columns" }, entries));
  };
  const names = [...new Set([...Object.keys(sections).filter(name => schema[name]), ...Object.keys(schema).filter(name => schema[name].properties)])];
  const whole = h("div", { input: collect }, names.map(group));
  text.addEventListener("input", () => {
    try { value = JSON.parse(text.value); } catch { return; }
    if (value && typeof value === "object") fill();
  });
  text.value = json(policy);
  fill();
  return { element: [whole, h("details", {}, h("summary", {}, "Edit as JSON"), entry("json", "The policy, with all its members", text))], text };
}

// A form that evaluates a policy on the facts of a request. Nothing changes.
export async function trial({ ask, below }, policy, request) {
  const result = h("div", { role: "status" });
  const { element, text } = await editor(ask, policy, !request);
  const id = request ? null : input("request", { type: "search" });
  const send = async values => {
    result.replaceChildren();
    const answer = await ask(`${request ?? below("decisions", values.request.trim() || "-")}/again`, { method: "POST", body: text.value });
    result.replaceChildren(h("p", {}, h("b", {}, answer.before === answer.after
      ? `No change: ${answer.after}.` : `It was ${answer.before} and would be ${answer.after}.`)), h("pre", {}, answer.explanation));
  };
  const save = () => {
    const address = URL.createObjectURL(new Blob([text.value], { type: "application/json" }));
    h("a", { href: address, download: `${policy.name ?? "policy"}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  };
  const made = form("Evaluate", send, [element, id && entry("request", "Request", id, "The identifier of a request whose decision this node or the record has.")],
    { owners: { decisionUnknown: "request", decisionNotKept: "request", decisionElsewhere: "request", decisionNotRecorded: "request" } });
  made.lastElementChild.append(h("button", { type: "button", click: save }, "Save as a file"));
  return { element: h("div", {}, made, result), id };
}

export async function policies(place, context) {
  const { ask, attempt, query, session } = context;
  const { policies } = await ask("policies");
  const detail = h("div", {});
  const open = attempt(async name => {
    const one = await ask(`policies/${encodeURIComponent(name)}`);
    const { element, id } = await trial(context, one.policy);
    const { decisions } = await ask(`decisions?${query({ tenant: session.tenant, limit: 1 })}`);
    id.value = decisions[0]?.requestId ?? "";
    detail.replaceChildren(section(`Policy ${name}`, h("p", { class: "hint" }, "A policy is the file ", h("code", {}, `${name}.json`),
      " on each node. Change its fields here, evaluate it on a request, save it as a file, and reload the configuration of each node. Digest: ",
      h("code", {}, one.digest)), element));
    detail.scrollIntoView();
  });
  place.replaceChildren(section("Policies in force", table("By name", [
    ["Name", one => h("button", { type: "button", click: () => open(one.name) }, one.name)],
    ["Tenants", one => one.tenants.join(", ") || "by keys or tokens only"], ["Digest", one => h("code", {}, one.digest.slice(0, 16))],
  ], policies)), detail);
}
