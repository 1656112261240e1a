import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// `latchkey inspect`: what is in a file, and what is wrong with it.
struct InspectVerb: Verb {
    private let kind = Positional("KIND", "spc, ckc or certificate")
    private let file = Positional("FILE", "a file with the bytes as they are, or - for standard input")
    private let credentials = Option(
        "credentials", .path("DIR"),
        "a key server's credentials: they open an SPC, and are compared with a certificate",
        .repeatable)
    private let dask = Option("dask", .hex(bytes: 16), "the derived key itself, for an SPC of published vectors")

    var usage: Usage {
        Usage(
            name: "inspect", summary: "say what is in an SPC, a CKC or a certificate, and what is wrong with it",
            details: """
                An SPC shows its outside without credentials and all that a key server may log with them. A CKC shows its
                outside; latchkey open-ckc opens it. Bytes of another kind, such as base64 or a web page, are named.
                """,
            positionals: [kind, file], options: [credentials, dask, Flag.json],
            examples: [
                "latchkey inspect certificate fairplay.cer",
                "latchkey inspect spc --credentials credentials my.spc",
                "latchkey inspect ckc --json my.ckc",
            ],
            yes: "it is what it should be; there may be warnings",
            no: "it is not, or a key server would refuse it")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let kinds = ["spc", "ckc", "certificate"]
        guard kinds.contains(arguments[kind]) else {
            let closest = Spelling.closest(to: arguments[kind], among: kinds).map {
                "Did you mean: latchkey inspect \($0)"
            }
            throw UsageError(
                "KIND is one of \(kinds.joined(separator: ", ")), not \(quoted(arguments[kind])).", hint: closest)
        }
        let credentials = try arguments.all(credentials).map {
            try KeyServerCredential(directory: URL(fileURLWithPath: $0))
        }
        let bytes = try InputFile.read(arguments[file], limit: Self.limit, console)
        let inspection = try inspect(bytes, arguments, credentials)
        if arguments[Flag.json] {
            try console.printJSON(inspection)
        } else {
            console.print(inspection.text)
        }
        return .yes
    }

    /// A mebibyte, far beyond any of them, so that a wrong file is read far enough to be named.
    private static let limit = 1 << 20

    private func inspect(
        _ bytes: Data, _ arguments: Arguments, _ credentials: [KeyServerCredential]
    ) throws -> any Inspection {
        switch arguments[kind] {
        case "certificate": return try CertificateInspection(bytes, credentials: credentials, now: Date())
        case "ckc": return try CKCInspection(bytes)
        default:
            guard !credentials.isEmpty else { return try SPCInspection(bytes) }
            let fixed = try arguments[dask].map { try FixedDerivation(dask: $0) }
            let derivation: any ApplicationSecretDerivation = fixed ?? InsecureTestDerivation()
            return try OpenedSPCInspection(bytes, KeyServerModule(credentials: credentials, derivation: derivation))
        }
    }
}
