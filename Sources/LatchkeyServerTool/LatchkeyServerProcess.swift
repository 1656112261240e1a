import LatchkeyTerminal

/// The process: its arguments in, its exit status out.
@main
struct LatchkeyServerProcess {
    static func main() async { await Program.run { await CommandLineTool.licenseServer.run($0, $1) } }
}

extension CommandLineTool {
    /// `latchkey-server` with all its verbs.
    static let licenseServer = CommandLineTool(
        name: "latchkey-server", summary: "a FairPlay license server: keys for packagers, licenses for players",
        verbs: [DemoVerb(), RunVerb(), TokenVerb(), DecideVerb(), ExplainVerb(), AuditVerb(), MigrateVerb()])
}
