import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey ckc`: the key security module, once.
struct CKCVerb: Verb {
    private let spc = Positional("SPC", "a file with the SPC's bytes, or - for standard input")
    private let credentials = Option(
        "credentials", .path("DIR"), "certificate.der, private-key.pem and ask.hex of a key server", .atLeastOnce)
    private let dask = Option(
        "dask", .hex(bytes: 16), "the derived key itself, for published vectors; then ask.hex is not needed")
    private let key = Option("key", .hex(bytes: 16), "the content key", .required)
    private let iv = Option("iv", .hex(bytes: 16), "the content IV", .required)
    private let out = Option("out", .path("CKC"), "where to write the CKC, or - for standard output", .required)
    private let terms = TermsOptions()

    var usage: Usage {
        Usage(
            name: "ckc", summary: "answer an SPC with a CKC, as a key server does",
            details: """
                The SPC names its certificate, which chooses among the credentials.
                \(TermsOptions.details)
                """,
            positionals: [spc], options: [credentials, dask, key, iv, out] + terms.options + [Flag.json],
            examples: [
                "latchkey ckc --credentials DIR --key 3c3c… --iv d5fb… --out my.ckc my.spc",
                "latchkey ckc --credentials DIR --key 3c3c… --iv d5fb… --lease 600 --hdcp 1 --out my.ckc my.spc",
                "latchkey ckc --credentials DIR --dask d87c… --key 3c3c… --iv d5fb… --out my.ckc --json vector.spc",
            ],
            yes: "the CKC is written",
            no: "the SPC is refused, with a code such as integrity, or a file cannot be read or written")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let directories = arguments.all(credentials)
        let terms = try terms.terms(arguments)
        let out = try arguments.required(out)
        if out == "-", arguments[Flag.json] { throw UsageError("--json and --out - both want standard output.") }
        guard let key = ContentKey(key: try arguments.required(key), iv: try arguments.required(iv)) else {
            throw UsageError("--key and --iv are 16 bytes each.")
        }
        let module = KeyServerModule(
            credentials: try directories.map { try KeyServerCredential(directory: URL(fileURLWithPath: $0)) },
            derivation: try derivation(arguments, console))
        let context = try module.open(try InputFile.read(arguments[spc], limit: Self.limit, console))
        var generator = SystemRandomNumberGenerator()
        let ckc = try module.contentKeyContext(for: context, key: key, terms: terms, using: &generator)
        try OutputFile.write(Data(ckc), to: out, for: .owner, console)
        guard out != "-" else { return .yes }
        try report(Answer(ckc, to: context, directories, terms), arguments, console)
        return .yes
    }

    /// A quarter of a mebibyte: four times the module's limit.
    private static let limit = 1 << 18

    private func derivation(
        _ arguments: Arguments, _ console: Console
    ) throws -> any ApplicationSecretDerivation {
        if let dask = arguments[dask] { return try FixedDerivation(dask: dask) }
        console.note(InsecureTestDerivation.warning)
        return InsecureTestDerivation()
    }

    private struct Answer: Encodable {
        let assetID: String
        let transactionID: String
        let credentials: String
        let bytes: Int
        let terms: TermsSummary

        init(_ ckc: [UInt8], to context: ServerPlaybackContext, _ directories: [String], _ terms: LicenseTerms) {
            assetID = "\(context.assetID)"
            transactionID = "\(context.transactionID)"
            credentials = directories[context.credentialIndex]
            bytes = ckc.count
            self.terms = TermsSummary(terms)
        }
    }

    private func report(_ answer: Answer, _ arguments: Arguments, _ console: Console) throws {
        guard !arguments[Flag.json] else { return try console.printJSON(answer) }
        console.print("CKC of \(answer.bytes) bytes for \(answer.assetID): \(answer.terms)")
    }
}
