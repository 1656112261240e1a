// The pages. Each fills its place from the admin API; lists are paged and searched by the server.
import { chart, date, h, legend, number, quantile, table, tile } from "./figures.js";

const json = value => JSON.stringify(value, null, 2);
const section = (title, ...children) => h("section", {}, h("h2", {}, title), ...children);
const why = (tenant, id) => h("a", { href: `#/decisions?${new URLSearchParams({ tenant, id })}` }, id);

function field(label, name, attributes = {}) {
  return h("label", {}, label, h("input", { name, spellcheck: "false", autocomplete: "off", ...attributes }));
}

function bar(label, submit, ...children) {
  return h("form", {
    class: "bar", role: "search", submit: event => {
      event.preventDefault();
      submit(Object.fromEntries(new FormData(event.target)));
    },
  }, ...children, h("button", {}, label));
}

// Pages of a list, forward only: the server gives the cursor of the next one.
function pager(next, more, first) {
  return h("div", { class: "pager" }, first ? h("button", { type: "button", click: first }, "First page") : null,
    next ? h("button", { type: "button", click: () => more(next) }, "Next page") : null);
}

async function overview(place, { ask, follow, say }) {
  const names = ["Licenses/s", "p50, last minute", "p99, last minute", "Sessions", "Threads busy", "Waiting"];
  const tiles = names.map(tile);
  const picture = section("Requests per second, by outcome");
  const drawing = h("div", {});
  const key = h("div", {});
  picture.append(drawing, key);
  const stores = h("div", {});
  const refusals = h("div", {});
  const kept = (await ask("refusals?limit=20")).refusals;
  const readings = [];
  place.replaceChildren(h("div", { class: "tiles" }, tiles.map(one => one.element)), picture,
    h("div", { class: "columns" }, section("Latest refusals", refusals), section("Stores", stores)));
  const showRefusals = () => refusals.replaceChildren(table("The newest first", [
    ["Time (UTC)", one => date(one.time)], ["Tenant", one => one.tenant], ["Code", one => one.code],
    ["Reason", one => one.reason],
    ["Request", one => one.explained && one.tenant ? why(one.tenant, one.requestId) : one.requestId],
  ], kept));
  showRefusals();
  follow({
    overview: now => {
      readings.push(now.times);
      if (readings.length > 60) readings.shift();
      const before = readings.length > 1 ? readings[0] : null;
      const last = now.seconds.at(-1) ?? {};
      tiles[0].set(number(last.granted));
      tiles[1].set(quantile(.5, before, now.times));
      tiles[2].set(quantile(.99, before, now.times));
      tiles[3].set(number(Object.values(now.sessions).reduce((sum, one) => sum + one, 0)));
      tiles[4].set(number(now.pool.busy));
      tiles[5].set(`${number(now.pool.waiting)} of ${number(now.pool.limit)}`);
      drawing.replaceChildren(chart(now.seconds, drawing.clientWidth));
      key.replaceChildren(h("p", { class: "empty" }, "Since the start:"), legend(now.totals));
      const out = now.stores.filter(one => one.outage).map(one => one.name);
      stores.replaceChildren(table("Where the server remembers", [
        ["What", one => one[0]], ["Engine", one => one[1]],
      ], Object.entries(now.engines)), out.length
        ? h("p", { class: "bad" }, `Out of service: ${out.join(", ")}. The policies' outage rules are in force.`)
        : h("p", {}, "All stores answer."));
      if (now.draining) say("The node is about to stop.", true);
    },
    refusal: one => {
      if (kept.some(known => known.number === one.number)) return;
      kept.unshift(one);
      kept.length = Math.min(kept.length, 50);
      showRefusals();
    },
  });
}

async function refusals(place, { ask, attempt, query, session }) {
  const load = attempt(async before => {
    const { refusals } = await ask(`refusals?${query({ tenant: session.tenant, before })}`);
    place.replaceChildren(section("Requests without a license", table("This node's last 1,000, the newest first", [
      ["Time (UTC)", one => date(one.time)], ["Code", one => one.code], ["Reason", one => one.reason],
      ["Key", one => one.kid],
      ["Request", one => one.explained ? why(one.tenant, one.requestId) : one.requestId],
    ], refusals), pager(refusals.length < 50 ? null : refusals.at(-1).number, load, before ? () => load() : null)));
  });
  await load();
}

async function accounts(place, { ask, attempt, below, may, query, say, search }) {
  const [list, detail] = [h("div", {}), h("div", {})];
  const change = (path, body, words) => attempt(async () => {
    if (!confirm(`${words}?`)) return;
    await ask(`${below()}/${path}`, { method: "POST", body: JSON.stringify(body) });
    await open(body.account);
    say(`${words}: done.`);
  });
  const action = (label, ...values) => may("operator")
    ? h("button", { type: "button", class: "danger", click: change(...values) }, label) : null;
  const open = attempt(async name => {
    const one = await ask(`${below("account")}?${query({ name })}`);
    detail.replaceChildren(section(`Account ${name}`,
      table("Sessions", [
        ["Session", slot => slot.session], ["Content", slot => slot.content], ["Device", slot => slot.label ?? slot.device],
        ["Began", slot => date(slot.started)], ["Ends", slot => date(slot.ends)],
        ["", slot => action("Stop", "sessions/stop", { account: name, session: slot.session }, "Stop the session")],
      ], one.slots),
      table("Devices", [
        ["Device", device => device.device], ["Last license", device => date(device.last)],
        ["", device => action("Forget", "devices/forget", { account: name, device: device.device }, "Forget the device")],
      ], one.devices),
      one.stopped.length ? table("Stopped sessions", [
        ["Session", slot => slot.session], ["By", slot => slot.by], ["At", slot => date(slot.at)],
      ], one.stopped) : null));
  });
  const load = attempt(async (prefix = "", after = "") => {
    const { accounts, next } = await ask(`${below("accounts")}?${query({ prefix, after })}`);
    list.replaceChildren(section("Accounts", table("By name", [
      ["Account", one => h("button", { type: "button", click: () => open(one.name) }, one.name)],
      ["Sessions", one => number(one.sessions)], ["Devices", one => number(one.devices)],
      ["Downloads", one => number(one.downloads)], ["Kept until", one => date(one.ends)],
    ], accounts), pager(next, next => load(prefix, next), after ? () => load(prefix) : null)));
  });
  place.replaceChildren(
    bar("Search", ({ prefix }) => load(prefix), field("Account begins with", "prefix", { type: "search" })), detail, list);
  await load();
  if (search.get("account")) await open(search.get("account"));
}

async function keys(place, { ask, attempt, below, may, query, say }) {
  const [list, detail] = [h("div", {}), h("div", {})];
  const set = (kid, word) => attempt(async () => {
    if (!confirm(`${word === "disable" ? "Disable" : "Enable"} the key ${kid}?`)) return;
    await ask(below("keys", kid, word), { method: "POST" });
    await open(kid);
    say(`The key is ${word}d.`);
  });
  const open = attempt(async kid => {
    const one = await ask(below("keys", kid));
    const word = one.key.disabled ? "enable" : "disable";
    detail.replaceChildren(section(`Key ${kid}`, h("pre", {}, json(one.key)),
      may("operator") ? h("button", { type: "button", class: "danger", click: set(kid, word) },
        word === "disable" ? "Disable" : "Enable") : null,
      h("h2", {}, `Policy: ${one.policies.join(", ") || "none"}`), h("pre", {}, json(one.policy ?? {}))));
  });
  const load = attempt(async (search = "", after = "") => {
    const { keys, next, count } = await ask(`${below("keys")}?${query({ search, after })}`);
    const caption = count === undefined ? "By content" : `By content; ${number(count)} in all`;
    list.replaceChildren(section("Keys", table(caption, [
      ["Content", one => one.content],
      ["Key", one => h("button", { type: "button", class: "code", click: () => open(one.kid) }, one.kid)],
      ["Tracks", one => one.trackType ?? one.track], ["Scheme", one => one.scheme], ["Made", one => date(one.created)],
      ["State", one => one.disabled ? h("span", { class: "bad" }, "disabled") : "in force"],
    ], keys), pager(next, next => load(search, next), after ? () => load(search) : null)));
  });
  place.replaceChildren(bar("Search", ({ search }) => load(search.trim()),
    field("Content begins with, or a whole kid", "search", { type: "search" })), detail, list);
  await load();
}

async function decisions(place, { ask, attempt, query, search, session }) {
  const [list, detail] = [h("div", {}), h("div", {})];
  const open = attempt(async (tenant, id) => {
    const path = `tenants/${encodeURIComponent(tenant)}/decisions/${encodeURIComponent(id)}`;
    const record = await ask(path);
    const refusal = record.decision.refusal;
    const result = h("div", { role: "status" });
    const text = h("textarea", { id: "policy", spellcheck: "false" });
    const policy = record.policyName ? await ask(`policies/${encodeURIComponent(record.policyName)}`).catch(() => null) : null;
    text.value = json(policy?.policy ?? { version: 1 });
    const attemptPolicy = attempt(async () => {
      const again = await ask(`${path}/again`, { method: "POST", body: text.value });
      result.replaceChildren(h("p", {}, again.before === again.after
        ? `It stays: ${again.after}.` : `It was ${again.before}, and would be ${again.after}.`), h("pre", {}, again.explanation));
    });
    detail.replaceChildren(section(`Why: request ${id}`,
      h("p", {}, h("b", {}, record.decision.result), refusal ? `: ${refusal.reason ?? ""} ${refusal.remedy ?? ""}` : ""),
      h("ul", {}, (record.decision.notes ?? []).map(note => h("li", {}, `${note.code}: ${note.text}`))),
      h("details", {}, h("summary", {}, "Everything that it depended on"), h("pre", {}, json(record))),
      h("h2", {}, "Try a policy"), h("label", { for: "policy" }, "A policy for the same facts; nothing is changed"), text,
      h("button", { type: "button", click: attemptPolicy }, "Decide again"), result));
  });
  const load = attempt(async (outcome = "", before = "") => {
    const { decisions, next } = await ask(`decisions?${query({ tenant: session.tenant, outcome, before })}`);
    list.replaceChildren(section("Decisions", table("This node's last 10,000, the newest first", [
      ["Time (UTC)", one => date(one.time)], ["Account", one => one.account], ["Content", one => one.content],
      ["Tracks", one => one.track], ["Outcome", one => one.outcome], ["Policy", one => one.policy],
      ["Request", one => h("button", { type: "button", class: "code", click: () => open(one.tenant, one.requestId) },
        one.requestId)],
    ], decisions), pager(next, next => load(outcome, next), before ? () => load(outcome) : null)));
  });
  place.replaceChildren(
    bar("Why?", ({ id }) => open(session.tenant, id.trim()), field("A request's identifier", "id", { type: "search" })),
    bar("Filter", ({ outcome }) => load(outcome.trim()),
      field("license, refused, or a refusal's code", "outcome", { type: "search" })), detail, list);
  await load();
  if (search.get("id")) await open(search.get("tenant"), search.get("id"));
}

async function credentials(place, { ask }) {
  const { credentials, notices } = await ask("credentials");
  place.replaceChildren(section("FairPlay credentials", ...notices.map(text => h("p", { class: "bad" }, text)),
    table("By the certificate's SHA-1", [
      ["SHA-1", one => one.sha1], ["RSA", one => `${one.rsaBits} bits`], ["Kind", one => one.test ? "test" : "licensee's"],
      ["Private key", one => one.inToken ? "in a token" : "in memory"], ["Ends", one => one.notAfter ? date(one.notAfter) : "never"],
      ["Days left", one => one.daysLeft === undefined ? "–" : number(one.daysLeft)],
    ], credentials)));
}

async function policies(place, { ask, attempt }) {
  const { policies } = await ask("policies");
  const detail = h("div", {});
  const open = attempt(async name => {
    const one = await ask(`policies/${encodeURIComponent(name)}`);
    detail.replaceChildren(section(`Policy ${name}`, h("p", {}, h("code", {}, one.digest)), h("pre", {}, json(one.policy))));
  });
  place.replaceChildren(section("Policies in force", table("By name", [
    ["Name", one => h("button", { type: "button", click: () => open(one.name) }, one.name)],
    ["Tenants", one => one.tenants.join(", ")], ["Digest", one => h("code", {}, one.digest.slice(0, 16))],
  ], policies)), detail);
}

async function audit(place, { ask, attempt, query, say }) {
  const list = h("div", {});
  const verdict = h("span", { role: "status" });
  const verify = attempt(async () => { verdict.textContent = (await ask("audit/verify", { method: "POST" })).verdict; });
  const load = attempt(async (from = "") => {
    const { entries, last } = await ask(`audit?${query({ from })}`);
    const first = entries[0]?.sequence ?? 1;
    list.replaceChildren(section("Entries", table(`${number(last)} in all`, [
      ["No.", one => number(one.sequence)], ["Time (UTC)", one => date(one.event.time)], ["Who", one => one.event.actor],
      ["Did", one => one.event.action], ["To", one => one.event.object],
      ["More", one => Object.entries(one.event.details).map(([name, value]) => `${name}: ${value}`).join("; ")],
    ], entries.toReversed()), h("div", { class: "pager" },
      first > 1 ? h("button", { type: "button", click: () => load(Math.max(1, first - 50)) }, "Earlier") : null,
      from ? h("button", { type: "button", click: () => load() }, "Newest") : null)));
  });
  place.replaceChildren(h("p", {}, h("button", { type: "button", click: verify }, "Verify the whole chain"), " ", verdict), list);
  await load();
}

export const pages = [
  { name: "overview", title: "Overview", show: overview }, { name: "refusals", title: "Refusals", show: refusals },
  { name: "accounts", title: "Sessions", show: accounts }, { name: "keys", title: "Keys", show: keys },
  { name: "decisions", title: "Decisions", show: decisions }, { name: "credentials", title: "Credentials", show: credentials },
  { name: "policies", title: "Policies", show: policies }, { name: "audit", title: "Audit", show: audit },
];
