extension CommandLineTool {
    /// The tool with all its verbs. A new verb is a type in `Verbs` and a line here.
    static let standard: CommandLineTool = CommandLineTool(verbs: [
        DemoVerb(), PlayVerb(), DoctorVerb(), ServeVerb(), KeysVerb(),
        VendorsVerb(), VendorsIdentifyVerb(), VendorsShowVerb(), VendorsCheckVerb(), WireRequestVerb(),
        WireResponseVerb(),
        CredentialsVerb(), SPCVerb(), CKCVerb(), OpenCKCVerb(), InspectVerb(), ExplainVerb(),
        CompletionsVerb { CommandLineTool.standard.verbs },
    ])
}
