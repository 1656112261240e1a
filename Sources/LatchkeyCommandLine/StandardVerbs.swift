import LatchkeyTerminal

extension CommandLineTool {
    /// The tool with all its verbs. A new verb is a type in `Verbs` and a line here.
    static let standard: CommandLineTool = latchkey([
        DemoVerb(), PlayVerb(), DoctorVerb(), CaptureVerb(), ReplayVerb(), ServeVerb(), LoadVerb(), ProbeVerb(),
        KeysVerb(),
        VendorsVerb(), VendorsIdentifyVerb(), VendorsShowVerb(), VendorsCheckVerb(), WireRequestVerb(),
        WireResponseVerb(),
        CredentialsVerb(), SPCVerb(), CKCVerb(), OpenCKCVerb(), InspectVerb(), ExplainVerb(),
        CompletionsVerb { CommandLineTool.standard.verbs },
    ])

    /// `latchkey` with some verbs.
    static func latchkey(_ verbs: [any Verb]) -> CommandLineTool {
        let summary = "FairPlay key delivery end to end, without an Apple device"
        let manual = ManualPage(
            of: "latchkey", summary,
            """
            Plays, serves, explains and diagnoses FairPlay streams: license services of every vendor and a simulated device, \
            with test credentials. Results go to standard output, everything else to standard error.
            """,
            variables: [
                (
                    "LATCHKEY_TOKEN",
                    "the token of the vendor, where --set does not give it; LATCHKEY_NAME for a credential NAME"
                ),
                ("SSL_CERT_FILE", "certificates of authorities to trust, in PEM, as --ca"),
                ("PATH", "the folders that are searched for ffmpeg"),
                ("TMPDIR", "the folder for streams while they play; only the user can read them"),
            ], seeAlso: "ffmpeg")
        return CommandLineTool(name: "latchkey", summary: summary, verbs: verbs, manual: manual.text)
    }
}
