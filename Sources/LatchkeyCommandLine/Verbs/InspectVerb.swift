import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyVendors

/// `latchkey inspect`: the contents of a file and its problems.
struct InspectVerb: Verb {
    private let kind = Positional(
        "KIND", Inspection.Kind.words, .words(Inspection.Kind.allCases.map(\.rawValue)))
    private let file = Positional("FILE", "a file with the bytes as they are, or - for standard input")
    private let credentials = Option(
        "credentials", .path("DIR"),
        "a key server's credentials: they open an SPC, and a certificate's private key should be there", .repeatable)
    private let dask = Option("dask", .hex(bytes: 16), "the derived key itself, for an SPC of published vectors")
    private let keyID = Option("key-id", .keyID, "the key that the token is for")
    private let purpose = Option(
        "purpose", .choice(["streaming": KeyPurpose.streaming, "persistable": .persistable]),
        "the purpose of a token's key; defaults to streaming")

    var usage: Usage {
        Usage(
            name: "inspect",
            summary: "show the contents and the problems of an SPC, a CKC, a certificate or a token",
            details: """
                Without credentials only the outside of an SPC is shown; with them, all that a key server may log. Of a CKC the
                outside is shown; latchkey open-ckc opens it. A file of another kind, such as base64, a form body or a web page,
                is named, with its contents and how to extract them. Of a token only the claims are shown; only its service
                can check whether it is genuine.
                """,
            positionals: [kind, file], options: [credentials, dask, keyID, purpose, Flag.json],
            examples: [
                "latchkey inspect certificate fairplay.cer",
                "latchkey inspect spc --credentials credentials my.spc",
                "latchkey inspect ckc --json my.ckc",
                "latchkey inspect token --key-id 7eaf8ec3-4f1e-4d3b-9d0f-0c6a4a4a8b52 --purpose persistable my.jwt",
            ],
            yes: "it is valid; there may be warnings",
            no: "it is not, or a key server or license service would refuse it")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        guard let kind = Inspection.Kind(rawValue: arguments[kind]) else { throw unknown(arguments[kind]) }
        let bytes = try InputFile.read(arguments[file], limit: Self.limit, console)
        let inspection = try inspect(bytes, as: kind, arguments, console)
        if arguments[Flag.json] {
            try console.printJSON(inspection)
        } else {
            console.print(inspection.text)
        }
        return inspection.failure == nil ? .yes : .no
    }

    /// A mebibyte, far above any of them, so that enough of a wrong file is read to name it.
    private static let limit = 1 << 20

    private func unknown(_ word: String) -> UsageError {
        let closest = Spelling.closest(to: word, among: Inspection.Kind.allCases.map(\.rawValue))
        return UsageError(
            "KIND is one of \(Inspection.Kind.words), not \(quoted(word)).",
            hint: closest.map { "Did you mean: latchkey inspect \($0)" })
    }

    private func inspect(
        _ bytes: Data, as kind: Inspection.Kind, _ arguments: Arguments, _ console: Console
    ) throws -> Inspection {
        if let mistaken = MistakenFile(bytes, takenFor: kind) { return Inspection(mistaken) }
        switch kind {
        case .spc: return Inspection(SPCReport(bytes, module: try module(arguments)))
        case .ckc: return Inspection(CKCReport(bytes))
        case .certificate:
            let found = Recognition(bytes)
            guard found != .bundle, found != .unknown else {
                return Inspection(bundle: bytes, found)
            }
            let privateKeys = try arguments.all(credentials).map {
                Secret(try InputFile.read("\($0)/private-key.pem", limit: Self.limit, console))
            }
            return Inspection(CertificateReport(bytes, privateKeysPEM: privateKeys, at: Date()))
        case .token:
            let purpose = arguments[purpose] ?? .streaming
            return Inspection(TokenReport(bytes, keyID: arguments[keyID], purpose: purpose, at: Date()))
        }
    }

    /// A key server's module with the credentials; `nil` if none were given.
    private func module(_ arguments: Arguments) throws -> KeyServerModule? {
        let credentials = try arguments.all(credentials).map {
            try KeyServerCredential(directory: URL(fileURLWithPath: $0))
        }
        guard !credentials.isEmpty else { return nil }
        let fixed = try arguments[dask].map { try FixedDerivation(dask: $0) }
        return KeyServerModule(credentials: credentials, derivation: fixed ?? InsecureTestDerivation())
    }
}

extension Inspection.Kind {
    fileprivate static var words: String { allCases.map(\.rawValue).joined(separator: ", ") }
}

extension ValueForm<KeyID> {
    /// A key's identifier.
    fileprivate static let keyID = ValueForm(placeholder: "ID") { text throws(UsageError) in
        guard let keyID = KeyID(text) else {
            throw UsageError("needs 32 hexadecimal digits, with dashes or without, not \(quoted(text))")
        }
        return keyID
    }
}
