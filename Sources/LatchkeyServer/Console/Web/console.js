// The console: signing in, finding the page of the address, and the server's reports while it works.
import { change } from "./changes.js";
import { h, visible } from "./figures.js";
import { pages } from "./pages.js";

const find = id => document.getElementById(id);
const ranks = ["viewer", "operator", "security"];
let session = null;
let leaving = () => {};

class Refusal extends Error {
  constructor(status, body) {
    super(body?.reason ? `${body.reason} ${body.remedy ?? ""}` : `The server answered ${status}.`);
    Object.assign(this, { status, code: body?.code, problems: body?.problems });
  }
}

function say(text, isBad = false) {
  find("status").textContent = visible(text);
  find("status").classList.toggle("bad", isBad);
}

// Authenticated by a key, or by the credentials that the browser adds automatically; then the header proves that the request comes from this page.
function request(key, path, { dryRun, as, ...options } = {}) {
  const headers = { "X-Latchkey-Console": "1", ...(key ? { Authorization: `Bearer ${key}` } : {}), ...(dryRun ? { "X-Latchkey-Dry-Run": "1" } : {}) };
  return fetch(`/admin/v1/${path}`, { ...options, headers, cache: "no-store" });
}

// Asks the admin API. A wrong key ends the session.
async function ask(path, options = {}, key = session?.key) {
  const reply = await request(key, path, options);
  const body = reply.ok && options.as === "text" && !options.dryRun ? await reply.text() : await reply.json().catch(() => null);
  if (reply.ok) return body;
  if (reply.status === 401 && session) signOut();
  throw new Refusal(reply.status, body);
}

// Saves the admin API's answer as a file. An answer that ends too early is not saved.
async function download(path, name) {
  const reply = await request(session.key, path);
  if (!reply.ok) throw new Refusal(reply.status, await reply.json().catch(() => null));
  const address = URL.createObjectURL(await reply.blob().catch(() => { throw new Error("The file ended before it was complete. Try again."); }));
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

const query = values => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== "" && value != null));
const below = (...parts) => ["tenants", session.tenant, ...parts].map(encodeURIComponent).join("/");

// Server-sent events by fetch, which can send the key. Without them it asks every second.
async function follow(handlers, signal) {
  while (!signal.aborted) {
    try {
      const reply = await request(session.key, "events", { signal });
      if (!reply.ok) throw new Refusal(reply.status, await reply.json().catch(() => null));
      say("");
      await read(reply.body.pipeThrough(new TextDecoderStream()).getReader(), handlers);
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 401) return signOut();
    }
    if (signal.aborted) return;
    try {
      handlers.overview(await ask("overview", { signal }));
      say("Refreshing every second.");
    } catch (error) {
      if (signal.aborted) return;
      say(error instanceof Refusal && error.status < 500 ? error.message : "The server does not answer. Trying again.", true);
    }
    await new Promise(done => setTimeout(done, 1000));
  }
}

async function read(reader, handlers) {
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const events = text.split("\n\n");
    text = events.pop();
    for (const event of events) {
      const [, name, data] = event.match(/^event: (\w+)\ndata: (.*)$/) ?? [];
      handlers[name]?.(JSON.parse(data));
    }
  }
}

function signIn(message = "") {
  const key = h("input", { id: "key", type: "password", autocomplete: "off", required: true, spellcheck: "false", "aria-describedby": "wrong" });
  const enter = async event => {
    event.preventDefault();
    try { await begin(key.value.trim()); } catch (error) {
      wrong.textContent = error.status === 401
        ? "This is not an operator's key. Paste the key exactly as you received it; the server's administrator has its file." : visible(error.message);
      key.setAttribute("aria-invalid", "true");
      key.focus();
    }
  };
  const wrong = h("p", { class: "bad", id: "wrong", role: "alert" });
  const provider = h("div", {});
  find("main").replaceChildren(h("form", { class: "sign-in", submit: enter }, h("h1", {}, "Sign in"), provider,
    h("label", { for: "key" }, "Operator's key"), key, wrong, h("button", {}, "Sign in")));
  say(message);
  key.focus();
  fetch("/sign-in", { cache: "no-store" }).then(reply => reply.json()).then(({ openID }) => {
    if (openID) provider.replaceChildren(h("p", {}, h("a", { class: "button", id: "provider", href: "/sign-in/openid",
      click: () => sessionStorage.setItem("latchkey-page", location.hash) }, "Sign in with OpenID Connect")));
  }).catch(() => {});
}

// Authenticated by a key, or by the credentials that the browser adds automatically.
async function begin(key) {
  let who = key ? null : await ask("me", {}, null);
  if (!who || who.proof === "proxy") who = await ask("sign-in", { method: "POST" }, key);
  if (key) sessionStorage.setItem("latchkey-key", key);
  const page = sessionStorage.getItem("latchkey-page");
  sessionStorage.removeItem("latchkey-page");
  if (page && !location.hash) location.hash = page;
  const tenant = who.tenants.includes(sessionStorage.getItem("latchkey-tenant"))
    ? sessionStorage.getItem("latchkey-tenant") : who.tenants[0] ?? "";
  session = { key, ...who, tenant };
  const whose = who.allTenants ? "all tenants" : who.tenants.join(", ") || "no tenant";
  find("name").textContent = visible(`${who.shownName}, ${who.role} of ${whose}, at node ${who.node}`);
  find("out").hidden = who.proof === "proxy";
  find("tenant").replaceChildren(...who.tenants.map(name => h("option", { value: name, selected: name === tenant }, name)));
  find("pages").replaceChildren(h("ul", {}, pages.map(page => h("li", {}, h("a", { href: `#/${page.name}` }, page.title)))));
  find("pages").hidden = find("who").hidden = false;
  say("");
  await show();
}

// Ends a session of the provider's on the server, too; a key is forgotten here.
async function leave() {
  if (session?.proof !== "openID") return signOut();
  try {
    const reply = await fetch("/sign-in/out", { method: "POST", headers: { "X-Latchkey-Console": "1" } });
    if (!reply.ok) throw new Refusal(reply.status, await reply.json().catch(() => null));
    const { next } = await reply.json();
    signOut();
    if (next) location.assign(next);
  } catch (error) { say(`You are still signed in. ${error.message}`, true); }
}

function signOut() {
  leaving();
  session = null;
  sessionStorage.removeItem("latchkey-key");
  find("pages").hidden = find("who").hidden = true;
  signIn("Signed out.");
}

async function show() {
  if (!session) return;
  leaving();
  const ending = new AbortController();
  leaving = () => ending.abort();
  const [name, search] = location.hash.replace(/^#\//, "").split("?");
  const page = pages.find(page => page.name === name) ?? pages[0];
  for (const link of find("pages").querySelectorAll("a")) {
    if (link.hash === `#/${page.name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${page.title} – Latchkey console`;
  const place = h("div", {});
  find("main").replaceChildren(h("h1", {}, page.title), place);
  const may = role => ranks.indexOf(session.role) >= ranks.indexOf(role);
  const attempt = work => async (...values) => {
    try { say(""); await work(...values); } catch (error) { if (!ending.signal.aborted) say(error.message, true); }
  };
  const context = {
    ask, download, query, below, may, say, attempt, session, change: (path, words, options) => change(ask, path, words, options, ending.signal), search: new URLSearchParams(search ?? ""),
    follow: handlers => follow(handlers, ending.signal),
  };
  await attempt(page.show)(place, context);
}

find("out").addEventListener("click", leave);
find("tenant").addEventListener("change", event => {
  session.tenant = event.target.value;
  sessionStorage.setItem("latchkey-tenant", session.tenant);
  show();
});
// The new page has the focus before it has its figures: who moves on meanwhile is not called back.
addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#/")) return;
  show();
  find("main").focus();
});

const kept = sessionStorage.getItem("latchkey-key");
const ways = kept ? {} : await fetch("/sign-in", { cache: "no-store" }).then(reply => reply.json()).catch(() => ({}));
if (kept || ways.session || ways.proxy) begin(kept).catch(error => { sessionStorage.removeItem("latchkey-key"); signIn(error.message); });
else signIn();
