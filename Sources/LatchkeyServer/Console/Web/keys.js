// Keys: lists, a form for a new key or a new value, and CPIX documents in and out.
import { bar, date, field, h, listing, number, pager, section, table } from "./figures.js";
import { checks, entry, form, input, options, problem } from "./forms.js";

const random = size => [...crypto.getRandomValues(new Uint8Array(size))].map(byte => byte.toString(16).padStart(2, "0")).join("");
const base64 = digits => btoa(String.fromCharCode(...digits.match(/../g).map(pair => parseInt(pair, 16))));
const quoted = text => text.replace(/[&<>"]/g, one => `&#${one.charCodeAt(0)};`);

function uuid() {
  const digits = random(16);
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${"89ab"[parseInt(digits[16], 16) % 4]}${digits.slice(17, 20)}-${digits.slice(20)}`;
}

// A CPIX document with one key.
const cpix = ({ content, kid, key, iv, scheme, track }) => `<cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc"
  contentId="${quoted(content)}" version="2.3">
  <cpix:ContentKeyList>
    <cpix:ContentKey kid="${quoted(kid)}" explicitIV="${iv}"${scheme && ` commonEncryptionScheme="${scheme}"`}>
      <cpix:Data><pskc:Secret><pskc:PlainValue>${key}</pskc:PlainValue></pskc:Secret></cpix:Data>
    </cpix:ContentKey>
  </cpix:ContentKeyList>${track && `
  <cpix:ContentKeyUsageRuleList><cpix:ContentKeyUsageRule kid="${quoted(kid)}" intendedTrackType="${quoted(track)}"/></cpix:ContentKeyUsageRuleList>`}
</cpix:CPIX>`;

// Sixteen bytes of a field, as base64; new random ones if it is empty.
function bytes(name, text) {
  const digits = text.replace(/[\s-]/g, "") || random(16);
  if (!/^[0-9a-f]{32}$/i.test(digits)) throw problem(name, "This is not 32 hexadecimal digits. Leave it empty for a random value.");
  return base64(digits);
}

// The fields of a new key, or of a new value for a key.
function keyForm({ below, change, query }, { row, policies = [] }, done) {
  const fixed = row ? { readonly: true } : {};
  const preview = h("pre", {});
  const written = values => cpix({ content: values.content.trim(), scheme: values.scheme, track: values.track, kid: values.kid,
    key: bytes("key", values.key), iv: bytes("iv", values.iv) });
  const send = async (values, element) => {
    const kid = values.kid.trim() || uuid();
    const body = written({ ...values, kid });
    const words = row ? `Replace the key ${kid}. Media encrypted with the old key will no longer play` : `Create a key of ${values.content.trim()}`;
    const asked = new URLSearchParams(row ? { replace: kid } : new FormData(element).getAll("policy").map(name => ["policy", name]));
    if (await change(`${below("cpix")}?${asked}`, words, { method: "POST", body, as: "text" }) === null) return;
    made.reset();
    show();
    await done(kid);
  };
  const made = form(row ? "Replace with this key" : "Create", send, [h("div", { class: "columns" },
    entry("content", "Content", input("content", { value: row?.content, ...fixed }), "The name that packagers and key URIs use."),
    entry("kid", "Key ID", input("kid", { value: row?.kid, placeholder: "A new UUID", ...fixed }), row ? null : "Empty for a new one."),
    entry("key", "Key", input("key", { placeholder: "A random key" }), "32 hexadecimal digits. Empty for a random key, which the page does not show."),
    entry("iv", "IV", input("iv", { placeholder: "A random IV" }), "32 hexadecimal digits, in every FairPlay license."),
    entry("scheme", "Encryption scheme", options("scheme", [["cbcs", "cbcs, for FairPlay"], ["cenc", "cenc"], ["cens", "cens"], ["cbc1", "cbc1"], ["", "Not stated"]])),
    entry("track", "Tracks", options("track", [["", "All"], ...["AUDIO", "SD", "HD", "UHD1", "UHD2"].map(name => [name, name])]), "A policy may require other HDCP for other tracks."),
    policies.length ? entry("policy", "Policies", checks("policy", policies.map(one => one.name)), "In addition to the tenant's. They cannot be changed later.") : null),
  h("details", {}, h("summary", {}, "The document to be imported"), preview)],
  { isDangerous: Boolean(row), owners: { cpixContent: "content", cpixKID: "kid", cpixConflict: "kid", cpixValue: "key", cpixIV: "iv", cpixScheme: "scheme", adminUnknown: "policy" } });
  if (row?.scheme) made.elements.scheme.value = row.scheme;
  if (row?.trackType && ![...made.elements.track.options].some(one => one.value === row.trackType)) made.elements.track.append(h("option", {}, row.trackType));
  if (row?.trackType) made.elements.track.value = row.trackType;
  const show = () => {
    const values = Object.fromEntries(new FormData(made));
    preview.textContent = cpix({ ...values, kid: values.kid || "(new)", key: values.key ? "(as above)" : "(random)", iv: values.iv ? "(as above)" : "(random)" });
  };
  made.addEventListener("input", show);
  show();
  return made;
}

// A tenant's keys as CPIX documents, in and out.
function documents({ attempt, below, change, query, say }) {
  const document = h("textarea", { id: "import", spellcheck: "false" });
  const bring = async () => {
    if (await change(below("cpix"), "Import the document's keys", { method: "POST", body: document.value, as: "text" }) !== null) say("The keys were imported.");
  };
  const out = h("pre", {});
  const show = ({ content }) => attempt(async () => {
    const reply = await change(`${below("cpix")}?${query({ content })}`, `Show the keys of ${content}`, { as: "text" });
    if (reply !== null) out.replaceChildren(reply);
  })();
  return h("details", {}, h("summary", {}, "Import or export keys"), form("Import", bring, entry("document", "A CPIX document of new keys", document), { isDangerous: true }),
    bar("Export", show, field("Content (its keys are shown in the clear)", "content", { required: true })), out);
}

export async function keys(place, context) {
  const { ask, attempt, below, change, may, query, say } = context;
  const [list, detail] = [h("div", {}), h("div", {})];
  const set = (kid, word) => attempt(async () => {
    if (!await change(below("keys", kid, word), `${word === "disable" ? "Disable" : "Enable"} the key ${kid}`, { method: "POST" })) return;
    await open(kid);
    say(`The key is ${word}d.`);
  });
  const remove = kid => attempt(async () => {
    if (!await change(below("keys", kid), `Remove the key ${kid}, end its licenses, and give packagers a new key on their next request`, { method: "DELETE" })) return;
    detail.replaceChildren();
    await load();
    say("The key is removed.");
  });
  const changes = row => {
    const text = h("textarea", { id: "cpix", spellcheck: "false" });
    const replaced = async () => {
      await open(row.kid);
      say("The key is replaced.");
    };
    const replace = async () => {
      const words = `Replace the key ${row.kid} with the document's key. Media encrypted with the old key will no longer play`;
      if (await change(`${below("cpix")}?${query({ replace: row.kid })}`, words, { method: "POST", body: text.value, as: "text" }) !== null) await replaced();
    };
    return h("details", {}, h("summary", {}, "Replace or remove the key"), keyForm(context, { row }, replaced),
      h("details", {}, h("summary", {}, "Replace it from a document"), form("Replace", replace, entry("document", "A CPIX document with the new key and its IV", text), { isDangerous: true })),
      h("button", { type: "button", class: "danger", click: remove(row.kid) }, "Remove"));
  };
  const open = attempt(async kid => {
    const one = await ask(below("keys", kid));
    const word = one.key.disabled ? "enable" : "disable";
    detail.replaceChildren(section(`Key ${kid}`, listing("Details", one.key),
      may("operator") ? h("button", { type: "button", class: "danger", click: set(kid, word) },
        word === "disable" ? "Disable" : "Enable") : null,
      may("security") ? changes(one.key) : null,
      h("h2", {}, `Policy: ${one.policies.join(", ") || "none"}`), listing("Rules", one.policy ?? {})));
    detail.scrollIntoView();
  });
  const load = attempt(async (search = "", after = "") => {
    const { keys, next, count } = await ask(`${below("keys")}?${query({ search, after })}`);
    const caption = count === undefined ? "By content" : `By content; ${number(count)} in all`;
    list.replaceChildren(section("Keys", table(caption, [
      ["Content", one => one.content],
      ["Key", one => h("button", { type: "button", class: "code", click: () => open(one.kid) }, one.kid)],
      ["Tracks", one => one.trackType ?? one.track], ["Scheme", one => one.scheme], ["Created", one => date(one.created)],
      ["State", one => one.disabled ? h("span", { class: "bad" }, "disabled") : "in force"],
    ], keys), pager(next, next => load(search, next), after ? () => load(search) : null)));
  });
  const created = async kid => {
    await load();
    await open(kid);
    say("The key is created.");
  };
  const isSecurity = may("security");
  const { policies } = isSecurity ? await ask("policies") : {};
  place.replaceChildren(bar("Search", ({ search }) => load(search.trim()), field("Content prefix, or a complete kid", "search", { type: "search" })),
    isSecurity ? h("details", {}, h("summary", {}, "New key"), keyForm(context, { policies }, created)) : "", isSecurity ? documents(context) : "", detail, list);
  await load();
}
