"""Deployment/prometheus/alertmanager.yml under a real Alertmanager: of the alerts that one trouble fires, those page that say what it is."""
import json
import os
import re

from Frame.programs import Child, ask, free_port, get, program, until


def alert(text):
    """`name` or `name label=value,label=value`."""
    name, _, labels = text.partition(" ")
    return {"alertname": f"Latchkey{name}", **dict(label.split("=") for label in labels.split(",") if label)}


# What fires, and what of it stays silent.
SCENES = {
    "PostgreSQL is away": (
        ["StoreOutage store=keyStore,operation=read", "ChangesPending instance=a", "NodeDown instance=b"],
        ["AuditUnwritable instance=a", "PackagerErrors protocol=speke", "RecordWaits instance=a", "LicensesDegraded why=staleKey",
         "LicensesDegraded why=copiedKey", "StoreOutage store=keyStore,operation=listen"]),
    "notifications do not arrive": (["StoreOutage store=keyStore,operation=listen", "AuditUnwritable instance=a"], []),
    "Redis is away": (
        ["StoreOutage store=sessionStore", "LicensesDegraded why=geo"],
        ["StoreOutage store=tokenStore", "LicensesDegraded why=sessionStore", "LicensesDegraded why=tokenStore"]),
    "all nodes hang": (["AllNodesDown"], ["NodeDown instance=a", "NodeDown instance=b", "NoRequests"]),
    "a callout is away": (["CalloutFails tenant=acme"], ["LicensesDegraded why=callout", "LicensesDegraded why=calloutMemory"]),
    "a module crashes": (
        ["ModuleFails tenant=acme,outcome=crashed", "ModuleRestarts tenant=brand"], ["ModuleRestarts tenant=acme"]),
    "errors": (["ErrorBudgetBurnsFast"], ["ErrorBudgetBurns"]),
    "too many requests": (["Sheds lane=start"], ["Slow"]),
    "a tenant is at a limit": (
        ["TenantAtLimit tenant=acme,limit=keys", "TenantNearLimit tenant=acme,limit=sessions", "TenantNearLimit tenant=brand,limit=keys"],
        ["TenantNearLimit tenant=acme,limit=keys"]),
    "a node's disk is full": (["RecordLost instance=a,why=failed", "RecordFills instance=b"], ["RecordFills instance=a", "RecordWaits instance=a"]),
}


class Alertmanager(Child):
    def __init__(self, folder, configuration):
        self.port = free_port()
        super().__init__(folder, "alertmanager", [
            program("alertmanager") or program("prometheus-alertmanager"), "--config.file", os.path.abspath(configuration), "--storage.path", f"{folder}/alertmanager",
            "--web.listen-address", f"127.0.0.1:{self.port}", "--cluster.listen-address", ""])
        until(lambda: get(f"http://127.0.0.1:{self.port}/-/ready")[0] == 200, 30, "Alertmanager's start")

    def silent(self, alerts):
        """Which of the alerts are inhibited, once these fire."""
        body = json.dumps([{"labels": one} for one in alerts]).encode()
        ask(f"http://127.0.0.1:{self.port}/api/v2/alerts", body=body, headers={"Content-Type": "application/json"})
        states = json.loads(get(f"http://127.0.0.1:{self.port}/api/v2/alerts")[1])
        return [one["labels"] for one in states if one["labels"] in alerts and one["status"]["inhibitedBy"]]


def check_inhibition(path, folder, names, check):
    """Names are those of the alerts that there are."""
    with open(path) as file:
        text = file.read()
    named = {name for words in re.findall(r'alertname=~?"([^"]+)"', text) for name in words.split("|")}
    played = {alert(one)["alertname"] for scene in SCENES.values() for half in scene for one in half}
    check(named <= names, f"{path}: names alerts that there are not: {named - names}")
    check(named <= played <= names, f"{path}: no scene has {named - played}; scenes have {played - names}, which there is not")
    for trouble, (causes, effects) in SCENES.items():
        causes, effects = [[alert(one) for one in half] for half in (causes, effects)]
        manager = Alertmanager(folder, path)
        try:
            alone = manager.silent(effects)
            check(not alone, f"{path}: {trouble}: without their cause silent: {alone}")
            silent = manager.silent(causes + effects)
            check(all(one in silent for one in effects), f"{path}: {trouble}: pages beside its cause: {[one for one in effects if one not in silent]}")
            check(not any(one in silent for one in causes), f"{path}: {trouble}: does not page: {[one for one in causes if one in silent]}")
        finally:
            manager.kill()
