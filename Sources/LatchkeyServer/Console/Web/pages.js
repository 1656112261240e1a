// The pages of lists. Each fills its place from the admin API; lists are paged and searched by the server.
import { bar, choice, date, field, h, listing, number, pager, section, table, whyBar } from "./figures.js";
import { overview, refusalColumns, refusals } from "./overview.js";
import { cpix, server, tenants } from "./places.js";
import { reports } from "./reports.js";

const drms = { fairplay: "FairPlay", clearkey: "Clear Key", widevine: "Widevine", playready: "PlayReady", other: "other" };
const json = value => JSON.stringify(value, null, 2);
async function accounts(place, { ask, attempt, below, change, may, query, say, search }) {
  const [list, detail] = [h("div", {}), h("div", {})];
  // The page of accounts that is shown.
  let shown = [];
  const act = (path, body, words) => attempt(async () => {
    if (!await change(`${below()}/${path}`, words, { method: "POST", body: JSON.stringify(body) })) return;
    await open(body.account);
    await load(...shown);
    say(`${words}: done.`);
  });
  const action = (label, ...values) => may("operator")
    ? h("button", { type: "button", class: "danger", click: act(...values) }, label) : null;
  const open = attempt(async name => {
    const one = await ask(`${below("account")}?${query({ name })}`);
    detail.replaceChildren(section(`Account ${name}`,
      h("p", {}, h("a", { href: `#/reports?${new URLSearchParams({ account: name })}` }, "History in the record"), " ",
        h("a", { href: `#/blocks?${new URLSearchParams({ name })}` }, "Block or unblock")),
      table("Sessions", [
        ["Session", slot => slot.session], ["Content", slot => slot.content], ["DRM", slot => drms[slot.drm] ?? slot.drm], ["Device", slot => slot.label ?? slot.device],
        ["Started", slot => date(slot.started)], ["Ends", slot => date(slot.ends)],
        ["", slot => action("Stop", "sessions/stop", { account: name, session: slot.session }, "Stop the session")],
      ], one.slots),
      one.slots.length ? action("Stop all", "sessions/stop-all", { account: name }, `Stop all sessions of ${name}`) : null,
      table("Devices", [
        ["Device", device => device.device], ["Last license", device => date(device.last)],
        ["", device => action("Forget", "devices/forget", { account: name, device: device.device }, "Forget the device")],
      ], one.devices),
      one.stopped.length ? table("Stopped sessions", [
        ["Session", slot => slot.session], ["By", slot => slot.by], ["At", slot => date(slot.at)],
      ], one.stopped) : null));
  });
  const load = attempt(async (prefix = "", after = "") => {
    shown = [prefix, after];
    const { accounts, next } = await ask(`${below("accounts")}?${query({ prefix, after })}`);
    list.replaceChildren(section("Accounts", table("By name", [
      ["Account", one => h("button", { type: "button", click: () => open(one.name) }, one.name)],
      ["Sessions", one => number(one.sessions)], ["Devices", one => number(one.devices)],
      ["Downloads", one => number(one.downloads)], ["Kept until", one => date(one.ends)],
    ], accounts), pager(next, next => load(prefix, next), after ? () => load(prefix) : null)));
  });
  place.replaceChildren(
    bar("Search", ({ prefix }) => load(prefix), field("Account prefix", "prefix", { type: "search" })), detail, list);
  await load();
  if (search.get("account")) await open(search.get("account"));
}

// Blocked accounts and devices, with a form for one more.
async function blocks(place, { ask, attempt, below, change, may, query, say, search }) {
  const list = h("div", {});
  const load = attempt(async (prefix = "", after = "") => {
    const { blocks, next } = await ask(`${below("blocks")}?${query({ prefix, after })}`);
    list.replaceChildren(section("Blocked", table("By name, as this node enforces them", [
      ["Name", one => one.name], ["Kind", one => one.kind], ["Reason", one => one.reason], ["By", one => one.by],
      ["Since (UTC)", one => date(one.since)], ["Until (UTC)", one => one.until ? date(one.until) : "no end"],
      ["", one => may("operator") ? h("button", { type: "button", class: "danger", click: lift(one) }, "Unblock") : null],
    ], blocks), pager(next, next => load(prefix, next), after ? () => load(prefix) : null)));
  });
  const lift = ({ kind, name }) => attempt(async () => {
    if (!await change(`${below("blocks")}?${query({ kind, name })}`, `Unblock the ${kind} ${name}`, { method: "DELETE" })) return;
    await load();
    say(`The ${kind} is unblocked.`);
  });
  const block = attempt(async ({ kind, name, reason, until }) => {
    const body = { kind, name: name.trim(), reason: reason.trim(), ...until && { until: `${until}:00Z` } };
    const done = await change(below("blocks"), `Block the ${kind} ${body.name}`, { method: "PUT", body: JSON.stringify(body) });
    if (!done) return;
    await load();
    say(done.stored === false ? `The ${kind} is blocked on this node only, until the key store answers.` : `The ${kind} is blocked.`);
  });
  place.replaceChildren(may("operator") ? section("Block an account or a device", bar("Block", block,
    choice("Kind", "kind", [["account", "Account"], ["device", "Device"]]),
    field("Name", "name", { required: true, value: search.get("name") ?? "" }),
    field("Reason, for operators", "reason", { required: true }),
    field("Until (UTC), or empty", "until", { type: "datetime-local" }))) : "",
  bar("Search", ({ prefix }) => load(prefix.trim()), field("Name's prefix", "prefix", { type: "search" })), list);
  await load();
}

async function keys(place, context) {
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
  const replace = (kid, text) => attempt(async () => {
    const words = `Replace the key ${kid} with the document's key. Media encrypted with the old key will no longer play`;
    if (await change(`${below("cpix")}?${query({ replace: kid })}`, words, { method: "POST", body: text.value, as: "text" }) === null) return;
    await open(kid);
    say("The key is replaced.");
  });
  const changes = kid => {
    const text = h("textarea", { id: "cpix", spellcheck: "false" });
    return h("details", {}, h("summary", {}, "Replace or remove the key"),
      h("label", { for: "cpix" }, "A CPIX document with the new key and its IV"), text,
      h("button", { type: "button", class: "danger", click: replace(kid, text) }, "Replace"), " ",
      h("button", { type: "button", class: "danger", click: remove(kid) }, "Remove"));
  };
  const open = attempt(async kid => {
    const one = await ask(below("keys", kid));
    const word = one.key.disabled ? "enable" : "disable";
    detail.replaceChildren(section(`Key ${kid}`, listing("Details", one.key),
      may("operator") ? h("button", { type: "button", class: "danger", click: set(kid, word) },
        word === "disable" ? "Disable" : "Enable") : null,
      may("security") ? changes(kid) : null,
      h("h2", {}, `Policy: ${one.policies.join(", ") || "none"}`), listing("Rules", one.policy ?? {})));
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
  place.replaceChildren(bar("Search", ({ search }) => load(search.trim()),
    field("Content prefix, or a complete kid", "search", { type: "search" })), cpix(context), detail, list);
  await load();
}

// Tries a policy on the recorded facts of a request.
async function trial(path, record, { ask, attempt }) {
  const result = h("div", { role: "status" });
  const text = h("textarea", { id: "policy", spellcheck: "false" });
  const policy = record.policyName ? await ask(`policies/${encodeURIComponent(record.policyName)}`).catch(() => null) : null;
  text.value = json(policy?.policy ?? { version: 1 });
  const decide = attempt(async () => {
    const again = await ask(`${path}/again`, { method: "POST", body: text.value });
    result.replaceChildren(h("p", {}, again.before === again.after
      ? `No change: ${again.after}.` : `It was ${again.before} and would be ${again.after}.`), h("pre", {}, again.explanation));
  });
  return h("div", {}, h("h2", {}, "Try a policy"), h("label", { for: "policy" }, "A policy to evaluate on the same facts; nothing changes"), text,
    h("button", { type: "button", click: decide }, "Evaluate"), result);
}

// Who asked for what, when and from where.
const facts = (tenant, node, { now, ask = {}, grant = {}, key = {} }) => table("Request", [
  ["Field", ([name]) => name], ["Value", ([, value]) => value],
], [["Time (UTC)", now ? date(now) : null], ["Tenant", tenant], ["Account", grant.account], ["Content", key.content], ["Tracks", key.track],
  ["Key", key.id ?? key.kid], ["Device", ask.device], ["Country", ask.country], ["Address", ask.address], ["Node", node],
].filter(([, value]) => value !== undefined && value !== null && value !== ""));

// The record's rows of a request.
const recorded = (id, rows, asOf) => section(`Request ${id}`, h("p", {}, h("b", {}, rows[0].code ? `refused, ${rows[0].code}` : rows[0].event),
  rows[0].reason ? `: ${rows[0].reason}` : ""), h("p", { class: "empty" }, "From the record, as of ", date(asOf), "."),
  rows.map(row => table("Row of the record", [["Field", ([name]) => name], ["Value", ([, value]) => value]], Object.entries(row))));

// A request that was refused before a policy was asked.
const early = (id, refusal, node) => section(`Request ${id}`, h("p", {}, h("b", {}, `refused, ${refusal.code}`), `: ${refusal.reason}`),
  h("p", { class: "empty" }, "The request was refused before a policy was evaluated."), table("The refusal",
    [...refusalColumns.slice(0, 2), ["Endpoint", one => one.endpoint], ["Status", one => one.status], ["Key", one => one.kid], ["Node", () => node]], [refusal]));

async function decisions(place, context) {
  const { ask, attempt, query, search, session } = context;
  const [list, detail] = [h("div", {}), h("div", {})];
  const open = attempt(async id => {
    const { tenant, node, record, refusal: before, rows, asOf } = await ask(`requests/${encodeURIComponent(id)}`);
    if (!record && rows) return detail.replaceChildren(recorded(id, rows, asOf));
    if (!record) return detail.replaceChildren(early(id, before, node));
    const path = `tenants/${encodeURIComponent(tenant)}/decisions/${encodeURIComponent(id)}`;
    const refusal = record.decision.refusal;
    // The refusal itself is a note, too, and stands above.
    const notes = (record.decision.notes ?? []).filter(note => !refusal?.reason || !note.text.includes(refusal.reason));
    detail.replaceChildren(section(`Request ${id}`,
      h("p", {}, h("b", {}, record.decision.result), refusal ? `: ${refusal.reason ?? ""} ${refusal.remedy ?? ""}` : ""),
      rows ? h("p", { class: "empty" }, "From the record, as of ", date(asOf), ".") : null,
      h("ul", {}, notes.map(note => h("li", {}, `${note.code}: ${note.text}`))), facts(tenant, node, record.facts),
      h("details", {}, h("summary", {}, "Everything it depended on"), h("pre", {}, json(record))),
      await trial(path, record, context)));
  });
  const load = attempt(async (outcome = "", before = "") => {
    const { decisions, next } = await ask(`decisions?${query({ tenant: session.tenant, outcome, before })}`);
    list.replaceChildren(section("Decisions", table(`The last 10,000 of node ${session.node}, newest first`, [
      ["Time (UTC)", one => date(one.time)], ["Account", one => one.account], ["Content", one => one.content],
      ["Tracks", one => one.track], ["Outcome", one => one.outcome], ["Policy", one => one.policy],
      ["Request", one => h("button", { type: "button", class: "code", click: () => open(one.requestId) }, one.requestId)],
    ], decisions), pager(next, next => load(outcome, next), before ? () => load(outcome) : null)));
  });
  place.replaceChildren(whyBar(open), bar("Filter", ({ outcome }) => load(outcome.trim()),
    field("license, refused, or a refusal code", "outcome", { type: "search" })), detail, list);
  await load();
  if (search.get("id")) await open(search.get("id"));
}

async function credentials(place, { ask }) {
  const { credentials, notices } = await ask("credentials");
  place.replaceChildren(section("FairPlay credentials", ...notices.map(text => h("p", { class: "bad" }, text)),
    table("By the certificate's SHA-1", [
      ["SHA-1", one => one.sha1], ["Tenant", one => one.tenant ?? "all without their own credentials"], ["RSA", one => `${one.rsaBits} bits`], ["Kind", one => one.test ? "test" : "licensee's"],
      ["Private key", one => one.inToken ? "in a token" : "in memory"], ["Ends", one => one.notAfter ? date(one.notAfter) : "never"],
      ["Days left", one => one.daysLeft === undefined ? "–" : number(one.daysLeft)],
    ], credentials)));
}

async function policies(place, { ask, attempt }) {
  const { policies } = await ask("policies");
  const detail = h("div", {});
  const open = attempt(async name => {
    const one = await ask(`policies/${encodeURIComponent(name)}`);
    detail.replaceChildren(section(`Policy ${name}`, h("p", {}, h("code", {}, one.digest)), listing("Rules", one.policy)));
  });
  place.replaceChildren(section("Policies in force", table("By name", [
    ["Name", one => h("button", { type: "button", click: () => open(one.name) }, one.name)],
    ["Tenants", one => one.tenants.join(", ")], ["Digest", one => h("code", {}, one.digest.slice(0, 16))],
  ], policies)), detail);
}

async function audit(place, { ask, attempt, query, say, session }) {
  const list = h("div", {});
  const verdict = h("span", { role: "status" });
  const verify = attempt(async () => { verdict.textContent = (await ask("audit/verify", { method: "POST" })).verdict; });
  const load = attempt(async (wanted = {}, before = "") => {
    const { entries, last, next } = await ask(`audit?${query({ ...wanted, before })}`);
    list.replaceChildren(section("Entries", table(`${number(last)} in all`, [
      ["No.", one => number(one.sequence)], ["Time (UTC)", one => date(one.event.time)], ["Actor", one => one.event.actor],
      ["Action", one => one.event.action], ["Target", one => one.event.object],
      ["Details", one => Object.entries(one.event.details).filter(([, value]) => value !== "").map(([name, value]) => `${name}: ${value}`).join("; ")],
    ], entries.toReversed()), h("div", { class: "pager" },
      next ? h("button", { type: "button", click: () => load(wanted, next) }, "Earlier") : null,
      before ? h("button", { type: "button", click: () => load(wanted) }, "Newest") : null)));
  });
  const parts = { who: "Actor, or part of the name", did: "Action", to: "Target, or part of it" };
  place.replaceChildren(session.allTenants ? h("p", {}, h("button", { type: "button", click: verify }, "Verify the whole chain"), " ", verdict) : "",
    bar("Filter", wanted => load(Object.fromEntries(Object.entries(wanted).map(([name, value]) => [name, value.trim()]))),
      Object.entries(parts).map(([name, label]) => field(label, name, { type: "search" })),
      field("From day (UTC)", "since", { type: "date" }), field("To day (UTC)", "until", { type: "date" })), list);
  await load();
}

export const pages = [
  { name: "overview", title: "Overview", show: overview }, { name: "refusals", title: "Refusals", show: refusals },
  { name: "reports", title: "Reports", show: reports }, { name: "accounts", title: "Sessions", show: accounts }, { name: "blocks", title: "Blocks", show: blocks }, { name: "keys", title: "Keys", show: keys },
  { name: "decisions", title: "Decisions", show: decisions }, { name: "credentials", title: "Credentials", show: credentials },
  { name: "policies", title: "Policies", show: policies }, { name: "tenants", title: "Tenants", show: tenants },
  { name: "audit", title: "Audit", show: audit }, { name: "server", title: "Server", show: server },
];
