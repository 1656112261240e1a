// Pages of the server and its tenants: packagers, data keys, seeds, configuration.
import { date, h, number, section, table } from "./figures.js";
import { marked } from "./forms.js";

const names = texts => texts?.length ? texts.join(", ") : null;

// The changes to a tenant's keys, by the required role.
const tenantChanges = [
  ["security", "New data key", "data-key", "Create a new data key, which seals from now on", answer => `Data key ${answer.version} seals from now on.`],
  ["security", "Reseal", "reseal", "Reseal the rows of older data keys",
    answer => answer.done ? `Resealed: ${number(answer.resealed)}.` : `Resealed: ${number(answer.resealed)}. More rows are left; run it again.`],
  ["security", "New seed", "seed", "Create a new seed, which derives the keys of new content", answer => `Seed ${answer.version} is in force.`],
];

export async function tenants(place, { ask, attempt, below, change, may, say, session }) {
  const detail = h("div", {});
  const { tenants } = await ask("tenants");
  const act = (path, words, said) => attempt(async () => {
    const answer = await change(below(path), words, { method: "POST" });
    if (answer) say(said(answer));
  });
  const mine = tenantChanges.filter(([role]) => may(role));
  place.replaceChildren(section("Tenants", table("By name", [
    ["Name", one => one.name], ["Policy", one => one.policy], ["Keys", one => one.keys],
    ["Token keys", one => one.tokenKeys ? `${number(one.tokenKeys.usable)} usable, ${number(one.tokenKeys.refused)} refused` : null],
    ["Problems", one => names(one.tokenKeys?.problems)], ["Clear Key", one => one.clearKey ? "allowed" : "off"],
    ["Origins", one => names(one.origins)],
  ], tenants)), section("Packagers", table("By tenant", [
    ["Tenant", one => one.tenant], ["Packager", one => one.name], ["Rights", one => names(one.rights)],
  ], tenants.flatMap(tenant => tenant.packagers.map(one => ({ ...one, tenant: tenant.name }))))), detail);
  if (session.tenant && mine.length) {
    detail.replaceChildren(section(`Keys of ${session.tenant}`, h("div", { class: "pager" },
      mine.map(([, label, path, words, said]) => h("button", { type: "button", class: "danger", click: act(path, `${words}: ${session.tenant}`, said) }, label)))));
  }
}

export async function server(place, { ask, attempt, change, may, say, session }) {
  const act = (path, words, said) => attempt(async () => {
    const answer = await change(path, words, { method: "POST" });
    if (answer) say(said(answer));
  });
  const { description, paths } = await fetchDescription(ask);
  const reload = act("reload", "Reload the configuration",
    answer => answer.restart.length ? `Reloaded. Waiting for a restart: ${answer.restart.join(", ")}.` : "The configuration was reloaded.");
  const rewrap = act("rewrap", "Wrap all data keys with the key encryption key in force", answer => `Rewrapped: ${number(answer.rewrapped)}.`);
  place.replaceChildren(section("You", table("Your session", [["Field", ([name]) => name], ["Value", ([, value]) => value]], [
    ["Name", session.shownName], ["In the audit", `admin:${session.name}`], ["Role", session.role],
    ["Tenants", session.allTenants ? "all" : names(session.tenants)], ["Signed in with", { key: "a key", openID: "the OpenID provider", proxy: "the proxy" }[session.proof]],
    ["Until", session.until ? date(session.until) : null]])),
  may("operator") && session.allTenants ? section("Configuration", h("div", { class: "pager" },
    h("button", { type: "button", class: "danger", click: reload }, "Reload"),
    may("security") ? h("button", { type: "button", class: "danger", click: rewrap }, "Rewrap data keys") : null)) : null,
  section("Admin API", h("p", {}, marked(description)), table("Operations, as in /admin/v1/openapi.json", [
    ["Address", one => h("code", {}, one.path)], ["Method", one => one.method], ["Purpose", one => one.summary],
    ["Minimum role", one => one.role], ["Scope", one => one.scope],
  ], paths)));
}

async function fetchDescription(ask) {
  const { info, paths } = await ask("openapi.json");
  return { description: info.description, paths: Object.entries(paths).flatMap(([path, methods]) => Object.entries(methods)
    .filter(([, one]) => one.summary).map(([method, one]) => ({
      path, method: method.toUpperCase(), summary: one.summary, role: one["x-latchkey-role"], scope: one["x-latchkey-scope"] }))) };
}
