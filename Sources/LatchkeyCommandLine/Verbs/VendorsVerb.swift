import LatchkeyCore
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyVendors

/// `latchkey vendors`: the vendors included with Latchkey, and the settings that each needs.
struct VendorsVerb: Verb {
    private let text = Positional(
        "NAME", "a part of a vendor's or a profile's name; all vendors without it", .none, .optional)

    // An example is a profile's, and opens nothing.
    var printsSecrets: Bool { true }

    var usage: Usage {
        Usage(
            name: "vendors", summary: "list the vendors, or the parameters of one",
            details: """
                Without a name, a line for each vendor. With one, each profile that fits and its parameters; an example has the right
                form but opens nothing. A profile's name with a hyphen is a variant: the same service, used as in another
                sample. latchkey vendors identify finds the vendor of a stream.
                """,
            positionals: [text], options: [Flag.json],
            examples: ["latchkey vendors", "latchkey vendors ezdrm", "latchkey vendors --json"],
            no: "no vendor has such a name")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let wanted = arguments.all(text).first
        let profiles = wanted.map(VendorProfile.matching) ?? VendorProfile.all
        guard !profiles.isEmpty else { throw Diagnosis.noVendor(wanted ?? "") }
        if arguments[Flag.json] {
            try console.printJSON(profiles.map(VendorSummary.init))
        } else if wanted == nil {
            console.print(VendorList(profiles).text)
        } else {
            console.print(profiles.map { VendorSummary($0).text }.joined(separator: "\n\n"))
        }
        return .yes
    }
}

/// `latchkey vendors show`: shows a vendor's profile.
struct VendorsShowVerb: Verb {
    private let vendor = Positional(
        "ID", "a vendor of latchkey vendors", .words(VendorProfile.all.map(\.identifier)))

    var printsSecrets: Bool { true }

    var usage: Usage {
        Usage(
            name: "vendors show", summary: "print a vendor's profile as JSON",
            details: """
                The profile has everything that the client knows of the vendor. Change and save it for --profile of latchkey play and
                latchkey wire. A member with its default value is left out.
                """,
            positionals: [vendor], options: [Flag.json],
            examples: ["latchkey vendors show vudrm-raw", "latchkey vendors show --json azure > my-azure.json"])
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        try console.printJSON(try VendorProfile.known(arguments[vendor]))
        return .yes
    }
}

/// `latchkey vendors check`: finds the problems in a profile's file.
struct VendorsCheckVerb: Verb {
    private let file = Positional("FILE", "a profile in JSON, or - for standard input")

    private struct Report: Encodable {
        let valid: Bool
        let problems: [ProfileProblem]
    }

    var usage: Usage {
        Usage(
            name: "vendors check", summary: "report the problems of a profile in JSON, and their places",
            details: """
                Each line names a place in the document and the problem: a member that is missing, misspelled or of the wrong form, a
                value that a rule reads and no parameter gives, a parameter that no rule reads, an invalid name or address.
                """,
            positionals: [file], options: [Flag.json],
            examples: [
                "latchkey vendors check my-vendor.json",
                "latchkey vendors show vudrm | latchkey vendors check --json -",
            ],
            yes: "the profile can be used", no: "it cannot, or the file cannot be read")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let json = try InputFile.read(arguments[file], limit: VendorProfile.fileLimit, console)
        let problems = VendorProfile.problems(inJSON: json)
        if arguments[Flag.json] {
            try console.printJSON(Report(valid: problems.isEmpty, problems: problems))
        } else if problems.isEmpty {
            console.print("No problems.")
        } else {
            console.print(problems.map { "\($0.field): \($0.reason)".visible }.joined(separator: "\n"))
        }
        return problems.isEmpty ? .yes : .no
    }
}
