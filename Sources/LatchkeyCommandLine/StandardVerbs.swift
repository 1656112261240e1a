import LatchkeyTerminal

extension CommandLineTool {
    /// The tool with all its verbs. A new verb is a type in `Verbs` and a line here.
    static let standard: CommandLineTool = latchkey([
        DemoVerb(), PlayVerb(), DoctorVerb(), CaptureVerb(), ReplayVerb(), ServeVerb(), LoadVerb(), KeysVerb(),
        VendorsVerb(), VendorsIdentifyVerb(), VendorsShowVerb(), VendorsCheckVerb(), WireRequestVerb(),
        WireResponseVerb(),
        CredentialsVerb(), SPCVerb(), CKCVerb(), OpenCKCVerb(), InspectVerb(), ExplainVerb(),
        CompletionsVerb { CommandLineTool.standard.verbs },
    ])

    /// `latchkey` with some verbs.
    static func latchkey(_ verbs: [any Verb]) -> CommandLineTool {
        CommandLineTool(
            name: "latchkey", summary: "FairPlay key delivery end to end, without an Apple device", verbs: verbs,
            manual: { ManualPage(version: CommandLineTool.version, verbs: $0).text })
    }
}
