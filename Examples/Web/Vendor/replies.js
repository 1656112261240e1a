// Replies: the CKC, the certificate, and what a refusal means. Source: Documentation/Vendors/README.md §0, §23.6 and §23.7.

import { VendorError, lenientBase64, lenientTextOf, only, parsed, textOf, valueAt } from "./rules.js";

// Whether bytes are a page, a document or a text, which no CKC and no certificate is.
function isWords(bytes) {
  const start = lenientTextOf(bytes.subarray(0, 512)).replace(/^[\s\ufeff]+/, "").toLowerCase();
  if (!start || /^(<|\{|\[|-----begin)/.test(start)) return true;
  const shown = Array.from(lenientTextOf(bytes.subarray(0, 512)));
  return !shown.slice(0, bytes.length > 512 ? -3 : undefined).some(one => /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffd]/.test(one));
}

export const malformed = (kind, what, service) => new VendorError(kind, `The reply holds no ${what}.`, service);
const untagged = text => text.startsWith("<ckc>") && text.endsWith("</ckc>") ? text.slice(5, -6) : text;
const unbase64 = text => text === null || text.includes(" ") ? null : lenientBase64(text);
const trimmed = bytes => textOf(bytes)?.trim() ?? null;
const first = (paths, body) => paths.map(path => valueAt(parsed(lenientTextOf(body)), path)).find(one => one !== null) ?? null;
const isObject = body => /^[ \t\r\n]*\{/.test(lenientTextOf(body));

// The CKC in a reply's body, by the decoder's name; null if it is not there.
const decoders = {
  raw: (_, body) => isWords(body) ? null : body,
  base64Text: (_, body) => unbase64(trimmed(body)),
  tagged: (_, body) => unbase64(trimmed(body) && untagged(trimmed(body))),
  json: (paths, body) => { const found = first(paths, body); return found === null ? null : unbase64(untagged(found)); },
  jsonOr: ({ paths, else: other }, body) => isObject(body) ? decoders.json(paths, body) : decoded(other, body),
  tolerant: (_, body) => !isWords(body) ? body : isObject(body) ? decoders.json(["ckc", "CkcMessage", "License"], body) : decoders.tagged(_, body),
  preferring: (other, body) => checkedCKC(decoded(other, body)) ?? decoders.tolerant(null, body),
};
export const decoded = (rule, body) => typeof rule === "string" ? decoders[rule](null, body) : decoders[only(rule)[0]](only(rule)[1], body);

// A CKC of version 1 states its payload's length in bytes 24 to 27.
export function checkedCKC(ckc) {
  if (!ckc || ckc.length < 28) return null;
  const view = new DataView(ckc.buffer, ckc.byteOffset, ckc.length);
  const version = view.getUint32(0);
  return version > 0 && version < 16 && (version !== 1 || view.getUint32(24) + 28 === ckc.length) ? ckc : null;
}

// A certificate in DER form or a bundle; null for anything that is recognizably something else.
function checkedCertificate(der) {
  if (!der) return null;
  const count = der[0] === 0x30 && der[1] >= 0x81 && der[1] <= 0x83 && der.length >= 5 ? der[1] - 0x7e : 0;
  if (!count) return !isWords(der) && der.length >= 128 && der[0] !== 0x30 ? der : null;
  const end = der.slice(2, count).reduce((sum, byte) => sum * 256 + byte, 0) + count;
  const isKey = der[count] === 2 && der[count + 1] === 1 && [0, 1, 3].includes(der[count + 2]);
  return end <= der.length && !isKey ? der : null;
}

export function certificateIn(rule, body) {
  const form = typeof rule === "string" ? rule : "json";
  if (form === "der" || form === "sniff" && !isWords(body)) return checkedCertificate(body);
  const text = form === "json" ? valueAt(parsed(lenientTextOf(body)), rule.json) : lenientTextOf(body);
  return text === null ? null : checkedCertificate(lenientBase64(text.match(/-----BEGIN CERTIFICATE-----([^]*?)-----/)?.[1] ?? text));
}

const usualCodes = [{ header: "x-error-code" }, ...["error.code", "errorCode", "error_code", "code", "errors.0.code"].map(json => ({ json }))];
const usualRequestIDs = ["x-request-id", "x-correlation-id", "x-ms-request-id", "x-amzn-requestid"];
const usualRequestIDsInBody = ["requestId", "requestID", "request_id", "error.requestId", "correlationId", "traceId"];
const statusKinds = {
  401: "unauthenticated", 403: "forbidden", 404: "notFound", 410: "notFound", 429: "rateLimited", 451: "regionDenied", 408: "serverTransient",
  425: "serverTransient", 501: "serverPermanent", 505: "serverPermanent",
};
const classKinds = { 2: "licenseMalformed", 3: "redirected", 5: "serverTransient" };
const inFewWords = text => text.split(/[\s\p{Cc}\p{Cf}]+/u).filter(Boolean)
  .map(word => word.length > 64 ? `‹${word.length} characters›` : word).join(" ").slice(0, 300);

// The kinds of a vendor's codes, by the codes. What else a profile says of them is for people.
const kindsOf = ({ kinds = {}, codes = {} }) =>
  ({ ...kinds, ...Object.fromEntries(Object.entries(codes).map(([code, { kind }]) => [code, kind])) });

// A number of the vendor's may look like a status; the profile then states another status for it.
const isOfStatus = ({ codes = {} }, status) => [undefined, status].includes(codes[status]?.status);

// Where a vendor's code may be in a reply.
const places = {
  header: (name, reply) => reply.header(name),
  json: (path, reply) => valueAt(reply.json, path),
  word: (start, reply) => {
    const digits = reply.words.split(start).slice(1).join(start).match(/^[0-9]+/);
    return digits && start + digits[0];
  },
  knownCode: (_, reply, rules) => {
    const isPart = one => one !== undefined && /[\p{L}\p{N}]/u.test(one);
    const found = Object.keys(kindsOf(rules)).map(code => [code, reply.words.indexOf(code)])
      .filter(([code, at]) => at >= 0 && !isPart(reply.words[at - 1]) && !isPart(reply.words[at + code.length]));
    return found.sort((one, other) => one[1] - other[1])[0]?.[0] ?? null;
  },
  text: (_, reply) => reply.status >= 200 && reply.status < 300 || !reply.isText ? null : reply.words,
};

function codeIn(list, reply, rules) {
  const found = list.map(place => typeof place === "string" ? [place] : only(place))
    .map(([name, parameter]) => places[name](parameter, reply, rules));
  return found.find(one => one && one !== "true" && one !== "false") ?? null;
}

export class Reply {
  constructor({ status, headers = {}, body = new Uint8Array() }) {
    const fields = new Headers(headers);
    Object.assign(this, { status, body, words: lenientTextOf(body), header: name => fields.get(name) });
    this.json = parsed(this.words);
    this.isText = isWords(body) && !/^[\s\ufeff]*[<{[]/.test(this.words) && body.length <= 16384;
  }
}

// The parts of a reply that help to find a cause.
export function serviceOf(reply, rules = {}) {
  const code = codeIn(rules.code?.length ? rules.code : usualCodes, reply, rules);
  const inBody = [...rules.requestIDInBody ?? [], ...usualRequestIDsInBody];
  const requestID = (rules.requestID ?? usualRequestIDs).map(name => reply.header(name)).find(Boolean)
    ?? inBody.map(path => valueAt(reply.json, path)).find(Boolean);
  return { status: reply.status, code: code && inFewWords(code), requestID: requestID && inFewWords(requestID) };
}

// Throws the refusal in a reply.
export function check(reply, rules = {}) {
  const isSuccess = (rules.successes ?? [200]).includes(reply.status);
  if (isSuccess && !(rules.refusesWithSuccess && codeIn(rules.code ?? [], reply, rules))) return;
  const [service, kinds] = [serviceOf(reply, rules), kindsOf(rules)];
  const usual = isSuccess ? "forbidden" : statusKinds[reply.status] ?? classKinds[Math.floor(reply.status / 100)] ?? "invalidRequest";
  const ofStatus = isOfStatus(rules, reply.status) ? kinds[reply.status] : undefined;
  throw new VendorError(kinds[service.code] ?? ofStatus ?? usual, `The service answered ${reply.status}.`, service);
}
