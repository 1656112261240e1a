// Accounts, each with its whole story: streams, devices, downloads, blocks, and the outcomes of its requests.
import { bar, date, drms, field, h, number, pager, section, table, why } from "./figures.js";
import { entry, form, input, options, problem } from "./forms.js";
import { history } from "./reports.js";

// A time of a form's field, in UTC; `undefined` if it is empty.
const utc = text => text ? `${text.slice(0, 16)}:00Z` : undefined;

// A form that blocks an account or a device: of a name, or of one that is typed.
function blockForm({ below, change, say }, subject, done) {
  const send = async ({ kind = subject.kind, name = subject.name, reason, until }) => {
    const body = { kind, name: name.trim(), reason: reason.trim(), until: utc(until) };
    const answer = await change(below("blocks"), `Block the ${kind} ${body.name}`, { method: "PUT", body: JSON.stringify(body) });
    if (!answer) return;
    await done();
    say(answer.stored === false ? `The ${kind} is blocked on this node only, until the key store answers.` : `The ${kind} is blocked.`);
  };
  return form(`Block${subject.isFixed ? ` the ${subject.kind}` : ""}`, send, h("div", { class: "columns" },
    subject.isFixed ? null : [entry("kind", "Kind", options("kind", [["account", "Account"], ["device", "Device"]])),
      entry("name", "Name", input("name", { value: subject.name ?? "" }), "As in tokens, or as a device in the page Accounts.")],
    entry("reason", "Reason", input("reason"), "For operators; the viewer does not see it."),
    entry("until", "Until (UTC)", input("until", { type: "datetime-local" }), "Empty for no end.")), { isDangerous: true });
}

const lift = ({ attempt, below, change, query, say }, { kind, name }, done) => attempt(async () => {
  if (!await change(`${below("blocks")}?${query({ kind, name })}`, `Unblock the ${kind} ${name}`, { method: "DELETE" })) return;
  await done();
  say(`The ${kind} is unblocked.`);
});

// The block of a name, if there is one.
const blockOf = async ({ ask, below, query }, kind, name) =>
  (await ask(`${below("blocks")}?${query({ prefix: name, limit: 2 })}`)).blocks.find(one => one.kind === kind && one.name === name);

const danger = (label, click) => h("button", { type: "button", class: "danger", click }, label);

// Erases an account for good, once its name is typed.
function erasure({ ask, attempt, below, change, query, say }, name, done) {
  const places = h("div", {});
  const list = (caption, answer) => places.replaceChildren(table(caption, [
    ["Place", one => one.place], ["Erased", one => one.erased], ["Kept", one => one.kept], ["Reason", one => one.why]], answer.places));
  const look = attempt(async event => {
    if (event.target.open) list("The effect of erasing it", await ask(`${below("account", "erasure")}?${query({ name })}`));
  });
  const erase = async ({ typed }) => {
    if (typed !== name) throw problem("typed", "This is not the account's name.");
    const answer = await change(`${below("account")}?${query({ name })}`, `Erase the account ${name}. This cannot be undone`, { method: "DELETE" });
    if (!answer) return;
    await done();
    list("Erased", answer);
    say("The account is erased.");
  };
  return h("details", { toggle: look }, h("summary", {}, "Erase the account"), places,
    form("Erase", erase, entry("typed", "The account's name, to confirm", input("typed")), { isDangerous: true }));
}

// An account's whole story.
async function story(place, context, name) {
  const { ask, attempt, below, change, may, query, say } = context;
  const [state, requests] = [h("div", {}), h("div", {})];
  const act = (path, body, words) => attempt(async () => {
    if (!await change(`${below()}/${path}`, words, { method: "POST", body: JSON.stringify({ account: name, ...body }) })) return;
    await show();
    say(`${words}: done.`);
  });
  const ifMay = (...parts) => may("operator") ? parts : [];
  const show = async () => {
    const [one, block] = await Promise.all([ask(`${below("account")}?${query({ name })}`), blockOf(context, "account", name)]);
    const devices = await Promise.all(one.devices.map(async device => ({ ...device, block: await blockOf(context, "device", device.device) })));
    const blocking = block
      ? h("div", { class: "attention" }, h("p", {}, `Blocked by ${block.by} since `, date(block.since), block.until ? [" until ", date(block.until)] : "", `: ${block.reason}`),
        ifMay(danger("Unblock the account", lift(context, block, show))))
      : may("operator") ? h("details", {}, h("summary", {}, "Block the account"), blockForm(context, { kind: "account", name, isFixed: true }, show)) : null;
    state.replaceChildren(
      h("div", { class: "tiles" }, [["Streams", one.slots.length], ["Devices", devices.length], ["Downloads", one.downloads.length], ["State", block ? "blocked" : "not blocked"]]
        .map(([title, text]) => h("dl", { class: "tile" }, h("dt", {}, title), h("dd", { class: text === "blocked" ? "bad" : null }, text)))), blocking ?? "",
      section("Streams now", table("Sessions", [
        ["Session", slot => slot.session], ["Content", slot => slot.content], ["DRM", slot => drms[slot.drm] ?? slot.drm],
        ["Device", slot => slot.label ?? slot.device], ["Started", slot => date(slot.started)], ["Ends", slot => date(slot.ends)],
        ...ifMay(["", slot => danger("Stop", act("sessions/stop", { session: slot.session }, "Stop the session"))]),
      ], one.slots), one.slots.length ? ifMay(danger("Stop all", act("sessions/stop-all", {}, `Stop all sessions of ${name}`))) : null,
      one.stopped.length ? table("Stopped", [["Session", slot => slot.session], ["By", slot => slot.by], ["At", slot => date(slot.at)]], one.stopped) : null),
      h("div", { class: "columns" }, section("Devices", table("By last license", [
        ["Device", device => device.device], ["Last license", device => date(device.last)],
        ["State", device => device.block ? h("span", { class: "bad" }, "blocked") : "not blocked"],
        ...ifMay(["", device => h("span", { class: "actions" }, device.block ? danger("Unblock", lift(context, device.block, show))
          : h("a", { href: `#/blocks?${new URLSearchParams({ kind: "device", name: device.device })}` }, "Block"),
        danger("Forget", act("devices/forget", { device: device.device }, "Forget the device")))]),
      ], devices)), section("Downloads", table("By content", [
        ["Content", one => one.content], ["Device", one => one.device], ["Ends", one => one.ends ? date(one.ends) : "no end"]], one.downloads))));
  };
  await show();
  place.replaceChildren(h("p", {}, h("a", { href: "#/accounts" }, "All accounts")), h("h2", { class: "name", tabindex: -1 }, name), state, requests,
    may("security") ? erasure(context, name, show) : "");
  await history(requests, context, { account: name, last: "7d" }, await recent(context, name));
}

// The outcomes of the account's requests that this node remembers: for a server without a record.
async function recent({ ask, query, session }, name) {
  const { decisions } = await ask(`decisions?${query({ tenant: session.tenant, limit: 200 })}`);
  return table(`Of the last ${number(decisions.length)} decisions of node ${session.node}`, [
    ["Time (UTC)", one => date(one.time)], ["Outcome", one => h("b", {}, one.outcome)], ["Content", one => one.content],
    ["Policy", one => one.policy], ["Request", one => why(one.requestId)],
  ], decisions.filter(one => one.account === name));
}

export async function accounts(place, context) {
  const { ask, attempt, below, query, search } = context;
  if (search.get("account")) return story(place, context, search.get("account"));
  const open = name => { location.hash = `#/accounts?${new URLSearchParams({ account: name })}`; };
  const list = h("div", {});
  const load = attempt(async (prefix = "", after = "") => {
    const { accounts, next } = await ask(`${below("accounts")}?${query({ prefix, after })}`);
    list.replaceChildren(section("Accounts with streams, devices or downloads", table("By name", [
      ["Account", one => h("a", { href: `#/accounts?${new URLSearchParams({ account: one.name })}` }, one.name)],
      ["Sessions", one => number(one.sessions)], ["Devices", one => number(one.devices)],
      ["Downloads", one => number(one.downloads)], ["Kept until", one => date(one.ends)],
    ], accounts), pager(next, next => load(prefix, next), after ? () => load(prefix) : null)));
  });
  place.replaceChildren(h("div", { class: "columns" },
    bar("Open", ({ account }) => open(account.trim()), field("Account, as in its tokens", "account", { type: "search", required: true })),
    bar("Search", ({ prefix }) => load(prefix), field("Account prefix", "prefix", { type: "search" }))), list);
  await load();
}

// Blocked accounts and devices, with a form for one more.
export async function blocks(place, context) {
  const { ask, attempt, below, may, query, search } = context;
  const list = h("div", {});
  const load = attempt(async (prefix = "", after = "") => {
    const { blocks, next } = await ask(`${below("blocks")}?${query({ prefix, after })}`);
    list.replaceChildren(section("Blocked", table("By name, as this node enforces them", [
      ["Name", one => one.kind === "account" ? h("a", { href: `#/accounts?${new URLSearchParams({ account: one.name })}` }, one.name) : one.name],
      ["Kind", one => one.kind], ["Reason", one => one.reason], ["By", one => one.by],
      ["Since (UTC)", one => date(one.since)], ["Until (UTC)", one => one.until ? date(one.until) : "no end"],
      ...(may("operator") ? [["", one => danger("Unblock", lift(context, one, load))]] : []),
    ], blocks), pager(next, next => load(prefix, next), after ? () => load(prefix) : null)));
  });
  const set = may("operator") ? blockForm(context, { name: search.get("name") }, load) : null;
  if (set && search.get("kind")) set.elements.kind.value = search.get("kind");
  place.replaceChildren(set ? section("Block an account or a device", set) : "",
    bar("Search", ({ prefix }) => load(prefix.trim()), field("Name's prefix", "prefix", { type: "search" })), list);
  await load();
}
