// Requests: their URLs, header fields and bodies. Source: Documentation/Vendors/README.md §23.3 to §23.5.

import { VendorError, document, escape, only, percentEncoded, required, same, text } from "./rules.js";

// An URL as text, so that the vendor's own stays as the vendor wrote it.
class Address {
  constructor(text) {
    const [front, ...query] = text.split("#")[0].split("?");
    this.front = front;
    this.items = query.length ? query.join("?").split("&") : [];
  }
  is(item, name) { return same(item.split("=")[0], name); }
  has(name) { return this.items.some(item => this.is(item, name)); }
  set(name, value) {
    const [item, index] = [`${percentEncoded(name)}=${value}`, this.items.findIndex(one => this.is(one, name))];
    if (index < 0) this.items = [...this.items.filter(Boolean), item];
    else this.items = this.items.map((one, place) => place === index ? item : one).filter((one, place) => place === index || !this.is(one, name));
  }
  append(segment) { this.front += (this.front.endsWith("/") ? "" : "/") + segment; }
  change(change, now) {
    if (change === "stripQuery") { this.items = []; return; }
    const [name, value] = only(change);
    if (name.startsWith("copyKeyURIQuery")) return this.copy(value, name.endsWith("IfAbsent"), now);
    const found = text(value.value ?? value, now);
    if (found === null) return;
    if (name === "setQuery" || name === "addQueryIfAbsent" && !this.has(value.name)) this.set(value.name, percentEncoded(found));
    const last = this.front.split("/").filter(Boolean).at(-1) ?? "";
    if (name === "appendPath" || name === "appendPathIfAbsent" && !same(last, percentEncoded(found))) this.append(percentEncoded(found));
    if (name === "useOrigin") this.front = found.match(/^(.*?:\/\/)?[^/?#]*/)[0] + this.front.replace(/^(.*?:\/\/)?[^/]*/, "");
  }
  copy(names, ifAbsent, now) {
    for (const name of names) {
      const value = now.uri?.query(name) ?? null;
      if (value !== null && !(ifAbsent && this.has(name))) this.set(name, value);
    }
  }
  // Invalid characters after the authority are escaped, and nothing else is changed.
  get text() {
    const all = this.front + (this.items.length ? `?${this.items.join("&")}` : "");
    const [, authority, rest] = all.match(/^((?:.*?:\/\/)?[^/?#]*)([^]*)$/);
    return authority + rest.replace(/%[0-9a-f]{2}|[A-Za-z0-9._~:/?#@!$&'()*+,;=-]|[^]/giu, one => /^(%..|[\w.~:/?#@!$&'()*+,;=-])$/.test(one) ? one : escape(one));
  }
}

function addressOf(rule, now, use) {
  const address = new Address(required(rule.base, now, use));
  for (const change of rule.changes ?? []) address.change(change, now);
  if (!/^https?:\/\/[^\s/?#]+(?:[/?#]|$)/i.test(address.text) || !URL.canParse(address.text)) throw new VendorError("invalidURL", `The ${use} is no http or https URL.`);
  return address.text;
}

const boundary = "latchkey-form-boundary-7d3f2c";
const form = (fields, now) => fields.map(({ name, value, escaping }) => [percentEncoded(name), text(value, now), escaping])
  .filter(([, value]) => value !== null).map(([name, value, escaping]) => `${name}=${escaping === "none" ? value : percentEncoded(value)}`).join("&");

// How each body is written: its media type, and its text or bytes.
const bodies = {
  raw: ["application/octet-stream", (_, now) => now.spc ?? new Uint8Array()],
  base64Text: ["text/plain", (_, now) => text("spc", now) ?? ""],
  form: ["application/x-www-form-urlencoded", form],
  formWithKeyURIQuery: ["application/x-www-form-urlencoded", (fields, now) =>
    [form(fields, now), now.uri?.afterFirstQuestionMark].filter(Boolean).join("&")],
  json: ["application/json", (template, now) => document(template, now) ?? "{}"],
  multipart: [`multipart/form-data; boundary=${boundary}`, (fields, now) => fields.map(({ name, value }) => [name, text(value, now)])
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join("") + `--${boundary}--\r\n`],
};

// What `fetch` takes, and the URL beside.
export function requestOf(rule, now, use) {
  const request = { url: addressOf(rule.url, now, use), method: rule.method ?? "GET", headers: {} };
  if (rule.body) {
    const [kind, parameter] = typeof rule.body === "string" ? [rule.body] : only(rule.body);
    request.headers["content-type"] = bodies[kind][0];
    request.body = bodies[kind][1](parameter, now);
  }
  for (const { name, value } of rule.headers ?? []) {
    const found = text(value, now);
    if (!found) continue;
    if (/[\u0000-\u001f\u007f]/.test(found)) throw new VendorError("invalidRequest", `The value for the header ${name} contains a control character.`);
    const field = required({ template: name }, now, "name of a header field");
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(field)) throw new VendorError("invalidRequest", `The setting for the header ${name} is no name of a header field.`);
    request.headers[field.toLowerCase()] = found;
  }
  return request;
}
