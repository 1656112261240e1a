// Changes: the question, the audit's entry as it will be written, and a confirmation before the change.
import { h, table, visible } from "./figures.js";

const entryRows = entry => [["Actor", entry.actor], ["Action", entry.action], ["Target", entry.object],
  ...Object.entries(entry.details ?? {}).map(([name, value]) => [name, value])];

// Shows a dialog. Gives true for a yes, and false for everything else, such as another page.
function agreed(words, entry, signal) {
  return new Promise(done => {
    if (signal.aborted) return done(false);
    const dialog = h("dialog", { "aria-labelledby": "asked" }, h("h2", { id: "asked" }, `${words}?`),
      table("Audit entry", [["Field", ([name]) => name], ["Value", ([, value]) => value]], entryRows(entry)),
      h("form", { method: "dialog", class: "pager" }, h("button", { value: "no", autofocus: true }, "Cancel"),
        h("button", { value: "yes", class: "danger" }, "Confirm")));
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue === "yes");
    });
    signal.addEventListener("abort", () => dialog.close());
    document.body.append(dialog);
    dialog.showModal();
  });
}

// Asks the server for the audit entry of a change, then the operator for a confirmation, then makes the change. Returns the answer, or null if the
// operator declines. The signal fires when the operator leaves the page.
export async function change(ask, path, words, options, signal) {
  const { entry } = await ask(path, { ...options, dryRun: true });
  if (!entry) throw new Error(visible("The server did not return the audit entry. Nothing was done."));
  return await agreed(words, entry, signal) ? ask(path, options) : null;
}
