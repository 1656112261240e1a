import LatchkeyVendors

/// `latchkey vendors`: the vendors that come with Latchkey, and what each has to be told.
struct VendorsVerb: Verb {
    var usage: Usage {
        Usage(
            name: "vendors", summary: "list the vendors, and the parameters that each needs",
            details: """
                A name with a hyphen is a variant of the vendor before it: the same service, spoken to as another sample does. An
                example has the right form and opens nothing. latchkey vendors show prints a profile as JSON, and latchkey vendors
                check checks one.
                """,
            options: [Flag.json],
            examples: ["latchkey vendors", "latchkey vendors --json", "latchkey vendors show vudrm"])
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let vendors = VendorProfile.all.map(VendorSummary.init)
        if arguments[Flag.json] {
            try console.printJSON(vendors)
        } else {
            console.print(vendors.map(\.text).joined(separator: "\n\n"))
        }
        return .yes
    }
}

/// `latchkey vendors show`: a vendor's profile itself.
struct VendorsShowVerb: Verb {
    private let vendor = Positional("ID", "a vendor of latchkey vendors")

    var usage: Usage {
        Usage(
            name: "vendors show", summary: "print a vendor's profile as JSON",
            details: """
                The profile says all that the client knows of the vendor. Changed and saved, it serves --profile of latchkey play and
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

/// `latchkey vendors check`: what is wrong with a profile's file.
struct VendorsCheckVerb: Verb {
    private let file = Positional("FILE", "a profile in JSON, or - for standard input")

    private struct Report: Encodable {
        let valid: Bool
        let problems: [ProfileProblem]
    }

    var usage: Usage {
        Usage(
            name: "vendors check", summary: "say what is wrong with a profile in JSON, and where",
            details: """
                Each line names a place in the document and the reason: what is missing, misspelled or of the wrong form, what a rule
                reads and no parameter gives, what no rule reads, names and addresses of the wrong shape.
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
            console.print(problems.map { "\($0.field): \($0.reason)" }.joined(separator: "\n"))
        }
        return problems.isEmpty ? .yes : .no
    }
}
