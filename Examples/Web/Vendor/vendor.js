// A vendor's license service in a browser: reads a profile as `latchkey vendors show NAME` prints it, makes the requests and reads the
// replies, with the same bytes as the Swift client. Sends nothing itself:
//
//   const vendor = new Vendor(profile, { certificateURL, licenseURL }, { token });
//   const { url, ...request } = vendor.licenseRequest({ keyURI, spc });
//   const reply = await fetch(url, request);
//   const { ckc } = vendor.license({ status: reply.status, headers: reply.headers, body: new Uint8Array(await reply.arrayBuffer()) });
//
// Source: Documentation/Vendors/README.md §0 and §23; Documentation/Media.md §5 says what a browser cannot do.

import { KeyURI, VendorError, names, only, required, text, valueAt } from "./rules.js";
import { requestOf } from "./requests.js";
import { Reply, certificateIn, check, checkedCKC, decoded, malformed, serviceOf } from "./replies.js";

export { VendorError };

// A profile with settings, and the credentials of this viewer.
export class Vendor {
  constructor(profile, settings = {}, credentials = {}) {
    Object.assign(this, { profile, credentials, settings: { ...profile.settings, ...settings } });
  }

  // What the SPC names the key by: what EME's initialization data has to hold.
  contentIdentifier(keyURI) { return required(this.profile.contentIdentifier, this.now({ keyURI }), "content identifier"); }

  // null if the certificate is a setting.
  certificateRequest(given = {}) {
    const rule = this.certificateRule;
    return rule.request ? this.request(rule.request, { lookup: given.lookup }, "certificate URL") : null;
  }
  certificate(reply) {
    const { request, decoder } = this.certificateRule;
    const answer = new Reply(reply);
    if (!request) throw new VendorError("certificateMalformed", "The profile fetches no certificate.");
    try { check(answer, this.profile.errors); } catch (error) {
      throw error.kind === "licenseMalformed" ? new VendorError("certificateMalformed", error.message, error) : error;
    }
    return must(certificateIn(decoder, answer.body), "certificateMalformed", "certificate", serviceOf(answer, this.profile.errors));
  }
  bundledCertificate() {
    const [form, value] = only(this.profile.certificate);
    const setting = form === "inline" ? value : value.setting ?? "certificate";
    if (form === "fetched" || form === "inlineOrFetched" && !this.settings[setting]) return null;
    const stated = required({ setting }, this.now({}), "application certificate");
    return must(certificateIn("base64Text", new TextEncoder().encode(stated)), "certificateMalformed", "certificate");
  }
  get certificateRule() { const [form, value] = only(this.profile.certificate); return form === "inline" ? {} : value; }

  // The request that precedes the license's, such as one for an entitlement; null if there is none.
  lookupRequest(given) {
    const rule = this.profile.lookup?.request;
    if (!rule) return null;
    const now = { ...given, contentIdentifier: null };
    const contentID = JSON.stringify(rule).includes("contentID") ? required(this.nameRule, this.now(now), "content id") : text(this.nameRule, this.now(now));
    return this.request(rule, { ...now, contentID }, "lookup URL");
  }
  lookup(reply, given) {
    const { errors, echoes = {}, allowedBy = [], values, uriList } = this.profile.lookup;
    const answer = new Reply(reply);
    check(answer, errors);
    const first = answer.words.split(/[\r\n]+/).map(line => line.trim()).find(line => line && !line.startsWith("#"));
    if (uriList && /^https?:/i.test(first ?? "")) return { [uriList]: first };
    const wrong = Object.entries(echoes).some(([path, rule]) => valueAt(answer.json, path) !== text(rule, this.now(given)));
    if (!answer.json || wrong) throw malformed("lookupMalformed", "JSON that repeats what was sent");
    if (allowedBy.some(path => valueAt(answer.json, path) !== "true")) throw new VendorError("forbidden", "The service says no.");
    return mapped(values, path => must(valueAt(answer.json, path), "lookupMalformed", `"${path}"`));
  }

  // given: keyURI, spc, and where they apply purpose, lookup, session, messageID.
  licenseRequest(given) {
    const { license, renewalRequest, requestContentID, contentIdentifier } = this.profile;
    const rule = given.purpose === "renewal" ? renewalRequest ?? license : license;
    const now = { purpose: "streaming", ...given, spcIdentifier: this.contentIdentifier(given.keyURI) };
    this.requireSettings(rule);
    this.requireCredentials(rule);
    const contentID = requestContentID ? required(requestContentID, this.now(now), "content id of the request") : text(contentIdentifier, this.now(now));
    return this.request(rule, { ...now, contentID }, "license URL");
  }
  license(reply) {
    const answer = new Reply(reply);
    const read = () => checkedCKC(decoded(this.profile.decoder, answer.body));
    try { check(answer, this.profile.errors); } catch (error) {
      const isStrange = answer.status >= 200 && answer.status < 300 && !(this.profile.errors?.successes ?? [200]).includes(answer.status);
      throw isStrange && read() ? new VendorError("licenseMalformed", `The reply holds a CKC, but its status is ${answer.status}.`, error) : error;
    }
    const ckc = must(read(), "licenseMalformed", "CKC", serviceOf(answer, this.profile.errors));
    return { ckc, sideValues: answer.json ? mapped(this.profile.sideValues ?? {}, path => valueAt(answer.json, path)) : {} };
  }

  // Of a secure session: "setup", "heartbeat" and "teardown". Some know no setup: the license opens them.
  sessionRequest(step, given = {}) {
    const rule = this.profile.session?.[step];
    if (!rule) throw new VendorError("missingSetting", `${this.profile.name} knows no ${step} of a session.`);
    return this.request(rule, given, "session URL");
  }

  get nameRule() { return this.profile.requestContentID ?? this.profile.contentIdentifier; }
  now({ keyURI, ...given }) { return { ...given, uri: keyURI === undefined ? null : new KeyURI(keyURI), settings: this.settings, credentials: this.credentials }; }
  request(rule, given, use) {
    this.requireSettings(rule);
    this.requireCredentials(rule);
    return requestOf(rule, this.now(given), use);
  }
  requireSettings(rule) {
    const read = names("setting", rule);
    const missing = this.parameters(false).find(one => !this.settings[one.name] && read.includes(one.name));
    if (missing) throw new VendorError("missingSetting", `${this.profile.name} needs the setting "${missing.name}".`);
  }
  requireCredentials(rule) {
    const read = names("credential", rule);
    const missing = this.parameters(true).find(one => !this.credentials[one.name] && read.includes(one.name));
    if (missing) throw new VendorError("missingCredential", `${this.profile.name} needs the credential "${missing.name}".`);
  }
  parameters(areCredentials) { return (this.profile.parameters ?? []).filter(one => one.isRequired && one.isCredential === areCredentials); }
}

function must(value, kind, what, service) {
  if (value === null || value === undefined || value === "") throw malformed(kind, what, service);
  return value;
}

const mapped = (values, read) => Object.fromEntries(Object.entries(values).map(([name, path]) => [name, read(path)]).filter(([, value]) => value !== null));
