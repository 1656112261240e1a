import Foundation
import LatchkeyLicensees
import LatchkeyTerminal

/// The process: its arguments in, its exit status out.
@main
struct LatchkeyServerProcess {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        if words.count == 2, words.first == ModuleWorker.verb, let library = words.last {
            ModuleWorker.run(library: library)
        }
        // A reload signal while the server still starts must not end it; the server handles the signal itself later.
        if ["run", "demo"].contains(CommandLine.arguments.dropFirst().first) {
            Interruption.handle { $0 == SIGHUP }
        }
        await Program.run { await CommandLineTool.licenseServer.run($0, $1) }
    }
}

extension CommandLineTool {
    /// `latchkey-server` with all its verbs.
    static let licenseServer: CommandLineTool = {
        let (name, summary) = ("latchkey-server", "a FairPlay license server: keys for packagers, licenses for players")
        let manual = ManualPage(
            of: name, summary,
            """
            Issues keys to packagers and licenses to viewers, according to tokens, policies and stream limits, from one JSON file. Logs go to \
            standard error, results to standard output. SIGHUP reloads the files; SIGTERM drains connections and exits.
            """,
            variables: [
                ("NAME", "a secret, if the configuration names a variable"),
                ("NOTIFY_SOCKET, WATCHDOG_USEC", "the socket and the interval of systemd's notifications"),
            ], seeAlso: "latchkey")
        return CommandLineTool(
            name: name, summary: summary,
            verbs: [
                DemoVerb(), RunVerb(), TokenVerb(), DecideVerb(), ExplainVerb(), ReportVerb(), AuditVerb(),
                MigrateVerb(), RollupsRebuildVerb(), RollupsKeepVerb(),
                TenantCreateVerb(),
                TenantListVerb(), BlockSetVerb(), BlockLiftVerb(), BlockListVerb(), AccountEraseVerb(),
                KeysRewrapVerb(), CopyAcceptVerb(),
                APIVerb(), SettingsVerb(),
                CompletionsVerb(of: name) { CommandLineTool.licenseServer.verbs },
            ], manual: manual.text)
    }()
}
