import Foundation
import LatchkeyTerminal

/// The process: its arguments in, its exit status out.
@main
struct LatchkeyServerProcess {
    static func main() async {
        // A server that is told to read its files again while it reads them goes on, and takes the signal itself later.
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
            Gives packagers keys and viewers licenses, by tokens, policies and limits of streams, from one JSON file. Logs go to \
            standard error, results to standard output. SIGHUP reads the files again; SIGTERM drains and ends.
            """,
            variables: [
                ("NAME", "a secret, where the configuration names a variable"),
                ("NOTIFY_SOCKET, WATCHDOG_USEC", "where and how often systemd is told that it runs"),
            ], seeAlso: "latchkey")
        return CommandLineTool(
            name: name, summary: summary,
            verbs: [
                DemoVerb(), RunVerb(), TokenVerb(), DecideVerb(), ExplainVerb(), ReportVerb(), AuditVerb(),
                MigrateVerb(),
                TenantCreateVerb(),
                TenantListVerb(), KeysRewrapVerb(), CopyAcceptVerb(), APIVerb(),
                CompletionsVerb(of: name) { CommandLineTool.licenseServer.verbs },
            ], manual: manual.text)
    }()
}
