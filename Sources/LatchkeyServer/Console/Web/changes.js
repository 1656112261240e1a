// Changes: what is asked, the audit's entry as it will be written, and a yes before it is done.
import { h, table, visible } from "./figures.js";

const entryRows = entry => [["Who", entry.actor], ["Does", entry.action], ["To", entry.object],
  ...Object.entries(entry.details ?? {}).map(([name, value]) => [name, value])];

// Shows a dialog. Gives true for a yes, and false for everything else.
function agreed(words, entry) {
  return new Promise(done => {
    const dialog = h("dialog", { "aria-labelledby": "asked" }, h("h2", { id: "asked" }, `${words}?`),
      table("The audit will say", [["What", ([name]) => name], ["Value", ([, value]) => value]], entryRows(entry)),
      h("form", { method: "dialog", class: "pager" }, h("button", { value: "no", autofocus: true }, "Cancel"),
        h("button", { value: "yes", class: "danger" }, "Do it")));
    dialog.addEventListener("close", () => {
      dialog.remove();
      done(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

// Asks the server what its audit would say, then the person, and then has it done. Gives the answer, or null for a no.
export async function change(ask, path, words, options) {
  const { entry } = await ask(path, { ...options, dryRun: true });
  if (!entry) throw new Error(visible("The server does not say what the audit would have. Nothing was done."));
  return await agreed(words, entry) ? ask(path, options) : null;
}
