// The rules of a vendor's profile: where each text of a request comes from. Source: Documentation/Vendors/README.md §23.1 to §23.5.

// Why no request can be made, or a reply holds no license: `kind` as in Documentation/Errors.md.
export class VendorError extends Error {
  constructor(kind, reason, service = {}) {
    super(reason);
    Object.assign(this, service, { kind });
  }
}

const bytesOf = text => new TextEncoder().encode(text);
export const textOf = bytes => {
  try { return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes); } catch { return null; }
};
export const lenientTextOf = bytes => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
export const same = (one, other) => one.toLowerCase() === other.toLowerCase();
export const only = value => Object.entries(value)[0];
const base64 = bytes => btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(""));
export const percentEncoded = text => encodeURIComponent(text).replace(/[!'()*]/g, escape);
export const escape = one => Array.from(bytesOf(one), byte => "%" + byte.toString(16).toUpperCase().padStart(2, "0")).join("");

function strictBase64(text) {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text) || !text) return null;
  return Uint8Array.from(atob(text), one => one.charCodeAt(0));
}

// Either alphabet, line breaks, blanks that were a plus, and any padding.
export function lenientBase64(text) {
  const plain = text.trim().replace(/[\r\n\t]/g, "").replace(/[- ]/g, "+").replace(/_/g, "/").replace(/=+$/, "");
  return strictBase64(text) ?? strictBase64(plain + "=".repeat((4 - plain.length % 4) % 4));
}

// The parts of a key URI, split as text.
export class KeyURI {
  constructor(text) {
    this.wholeURI = text.replace(/[\n\r\v\f\u0085\u2028\u2029]+$/, "");
    const [name] = this.wholeURI.match(/^[A-Za-z0-9+.-]+(?=:)/) ?? [];
    const isNamed = name && (this.wholeURI.startsWith("://", name.length) || ["skd", "data"].includes(name.toLowerCase()));
    this.scheme = isNamed ? name : null;
    const rest = isNamed ? this.wholeURI.slice(name.length + 1) : this.wholeURI;
    this.path = rest.startsWith("//") ? rest.slice(2).replace(/^[^/?#]*/, "") : rest;
    this.remainder = isNamed && rest.startsWith("//") ? rest.slice(2) : rest;
    this.host = this.remainder.split(/[/?#]/)[0];
    this.hostName = this.host.split("@").at(-1).replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
    this.remainderBeforeQuery = this.remainder.split("?")[0];
  }
  get afterFirstQuestionMark() { return after(this.wholeURI, this.wholeURI.indexOf("?"), 1); }
  get afterLastQuestionMark() { return after(this.wholeURI, this.wholeURI.lastIndexOf("?"), 1); }
  get items() { return (this.afterFirstQuestionMark ?? "").split("&").filter(Boolean).map(item => [item, item.indexOf("=")]); }
  get firstQueryValue() { return this.items.length ? after(this.items[0][0], this.items[0][1], 1) : null; }
  query(name) {
    const found = this.items.find(([item, equals]) => same(equals < 0 ? item : item.slice(0, equals), name));
    return found ? after(found[0], found[1], 1) : null;
  }
  get lastPathComponent() {
    const path = this.path.split(/[?#]/)[0].replace(/%([0-9a-f]{2})|[^]/gi, (one, hex) => hex ? one : encodeURIComponent(one));
    try { return decodeURIComponent(path).split("/").filter(Boolean).at(-1) ?? null; } catch { return null; }
  }
  get httpsURI() {
    const scheme = this.scheme?.toLowerCase();
    if (scheme === "skd" && ["http", "https"].includes(new KeyURI(this.remainder).scheme?.toLowerCase())) return this.remainder;
    return scheme === "data" ? null : `https://${this.remainder}`;
  }
}

const after = (text, index, length) => index < 0 ? null : text.slice(index + length);

// What a rule may change a text to; null if the text does not allow it.
const transforms = {
  base64Decoded: text => { const bytes = lenientBase64(text); return bytes && textOf(bytes); },
  base64: text => base64(bytesOf(text)),
  percentDecoded: text => { try { return decodeURIComponent(text); } catch { return null; } },
  percentEncoded,
  ifBase64: text => strictBase64(text) ? text : null,
};

// Rules with a parameter. A text or null.
const forms = {
  afterLast: (mark, now) => now.uri && after(now.uri.wholeURI, now.uri.wholeURI.lastIndexOf(mark), mark.length),
  query: (name, now) => now.uri?.query(name),
  fixed: text => text,
  setting: (name, now) => now.settings[name] || null,
  credential: (name, now) => now.credentials[name] || null,
  lookup: (name, now) => now.lookup?.[name],
  session: (name, now) => now.session?.[name],
  reply: (path, now) => now.reply ? valueAt(now.reply, path) : null,
  onlyFor: ({ purpose, text: rule }, now) => purpose === now.purpose ? text(rule, now) : null,
  firstOf: (rules, now) => { for (const rule of rules) { const found = text(rule, now); if (found) return found; } },
  all: (rules, now) => { const found = texts(rules, now); return found.length === rules.length && found.length ? found.join("") : null; },
  joined: ({ of, separator }, now) => { const found = texts(of, now); return found.length ? found.join(separator) : null; },
  upTo: ({ text: mark, in: rule }, now) => text(rule, now)?.split(mark)[0],
  replacing: ({ text: old, with: rule, in: subject }, now) => {
    const [all, replacement] = [text(subject, now), text(rule, now)];
    return all === null || replacement === null ? null : all.replace(old, () => replacement);
  },
  from: ({ text: source, take }, now) => {
    const found = text(source, now);
    return found === null ? null : text(take, { ...now, uri: new KeyURI(found) });
  },
  template: (template, now) => {
    const names = Array.from(template.matchAll(/\{([^}]*)\}/g), ([, name]) => text(named(name), now));
    return names.includes(null) ? null : template.replace(/\{[^}]*\}/g, () => names.shift());
  },
  json: (template, now) => document(template, now),
};

const named = name => ["contentID", "host", "lastPathComponent", "remainder"].includes(name) ? name : { setting: name };
const texts = (rules, now) => rules.map(rule => text(rule, now)).filter(found => found !== null);

// The text that a rule gives; null if it gives none.
export function text(rule, now) {
  if (typeof rule !== "string") {
    const [name, parameter] = only(rule);
    if (!(name in transforms)) return forms[name](parameter, now) ?? null;
    const found = text(parameter, now);
    return found === null ? null : transforms[name](found);
  }
  if (rule === "spc") return now.spc ? base64(now.spc) : null;
  if (rule === "spcURLSafe") return now.spc ? base64(now.spc).replaceAll("+", "-").replaceAll("/", "_") : null;
  if (["contentID", "spcIdentifier", "messageID"].includes(rule)) return now[rule] ?? null;
  return now.uri?.[rule] ?? null;
}

// A JSON document without blanks, its members in alphabetical order; null for a rule that gives nothing.
export function document(template, now) {
  if (typeof template === "string") return quoted(template);
  if (typeof template !== "object") return String(template);
  if (Array.isArray(template)) return `[${template.map(one => document(one, now)).filter(one => one !== null).join(",")}]`;
  const names = Object.keys(template).sort();
  if (names.length === 1 && names[0] === "$") { const found = text(template.$, now); return found === null ? null : quoted(found); }
  if (names.length === 1 && names[0] === "$number") return wholeNumber(text(template.$number, now));
  const members = names.map(name => [name, document(template[name], now)]).filter(([, value]) => value !== null);
  return `{${members.map(([name, value]) => `${quoted(name)}:${value}`).join(",")}}`;
}

function wholeNumber(digits) {
  if (digits === null) return null;
  if (!/^[+-]?[0-9]{1,18}$/.test(digits)) throw new VendorError("invalidRequest", "A number in the body is no whole number.");
  return BigInt(digits.replace("+", "")).toString();
}

const short = { "\"": "\\\"", "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
const quoted = text => `"${text.replace(/["\\\u0000-\u001f]/g, one => short[one] ?? `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;

// The names of settings or credentials that a rule reads, anywhere inside.
export function names(kind, rule) {
  if (typeof rule !== "object" || rule === null) return [];
  return Object.entries(rule).flatMap(([name, value]) => {
    if (name === kind && typeof value === "string") return [value];
    const isTemplate = kind === "setting" && (name === "template" || name === "name") && typeof value === "string";
    return isTemplate ? Array.from(value.matchAll(/\{([^}]*)\}/g), one => named(one[1]).setting).filter(Boolean) : names(kind, value);
  });
}

export function required(rule, now, use) {
  const found = text(rule, now);
  if (found) return found;
  const setting = names("setting", rule).sort().find(name => !now.settings[name]);
  if (setting) throw new VendorError("missingSetting", `The ${use} needs the setting "${setting}".`);
  const [credential] = names("credential", rule).sort();
  if (credential) throw new VendorError("missingCredential", `The ${use} needs the credential "${credential}".`);
  throw new VendorError("contentIdentifierMissing", `The key URI holds nothing for the ${use}.`);
}

// A text, number or Boolean of a JSON reply at a path, as text.
export function valueAt(root, path) {
  const found = find(root, path.split(".").filter(Boolean));
  return found === null || found === undefined || typeof found === "object" ? null : String(found);
}

function find(root, path) {
  if (!path.length) return root;
  const [name, ...rest] = path;
  if (typeof root === "string") { const inner = parsed(root); return inner && find(inner, path); }
  if (typeof root !== "object" || root === null) return null;
  const values = name !== "*" ? [Object.hasOwn(root, name) ? root[name] : null]
    : Array.isArray(root) ? root : Object.keys(root).sort().map(key => root[key]);
  return values.map(value => find(value, rest)).find(value => value !== null && value !== undefined && typeof value !== "object") ?? null;
}

export function parsed(text) {
  try { const value = JSON.parse(text); return typeof value === "object" ? value : null; } catch { return null; }
}
