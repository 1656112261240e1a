// The pages of lists. Each fills its place from the admin API; lists are paged and searched by the server.
import { accounts, blocks } from "./accounts.js";
import { bar, date, field, h, number, pager, section, table, whyBar } from "./figures.js";
import { keys } from "./keys.js";
import { overview, refusalColumns, refusals } from "./overview.js";
import { server, tenants } from "./places.js";
import { policies, trial } from "./policies.js";
import { reports } from "./reports.js";

const json = value => JSON.stringify(value, null, 2);

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
  const decided = async ({ policyName }) => policyName
    ? (await ask(`policies/${encodeURIComponent(policyName)}`).catch(() => null))?.policy ?? { version: 1 } : { version: 1 };
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
      h("h2", {}, "Try a policy"), h("p", { class: "hint" }, "A policy is evaluated on the same facts. Nothing changes."), (await trial(context, await decided(record), path)).element));
  });
  const load = attempt(async (outcome = "", before = "") => {
    const { decisions, next } = await ask(`decisions?${query({ tenant: session.tenant, outcome, before })}`);
    list.replaceChildren(section("Decisions", table(`The last 10,000 of node ${session.node}, newest first`, [
      ["Time (UTC)", one => date(one.time)], ["Account", one => one.account], ["Content", one => one.content],
      ["Tracks", one => one.track], ["Outcome", one => h("b", { class: one.outcome === "license" || one.outcome === "acknowledge" ? null : "bad" }, one.outcome)], ["Policy", one => one.policy],
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
  { name: "reports", title: "Reports", show: reports }, { name: "accounts", title: "Accounts", show: accounts }, { name: "blocks", title: "Blocks", show: blocks }, { name: "keys", title: "Keys", show: keys },
  { name: "decisions", title: "Decisions", show: decisions }, { name: "credentials", title: "Credentials", show: credentials },
  { name: "policies", title: "Policies", show: policies }, { name: "tenants", title: "Tenants", show: tenants },
  { name: "audit", title: "Audit", show: audit }, { name: "server", title: "Server", show: server },
];
