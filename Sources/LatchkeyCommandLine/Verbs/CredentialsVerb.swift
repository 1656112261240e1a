import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeySystem
import LatchkeyTerminal

/// `latchkey credentials`: test credentials for a key server and a simulated device.
struct CredentialsVerb: Verb {
    private let out = Option("out", .path("DIR"), "the folder for them; made if it does not exist", .required)
    private let bits = Option(
        "bits", .choice(["1024": 1024, "2048": 2048]), "the size of the RSA key; defaults to 1024")
    private let force = Flag("force", "replace existing files")

    var usage: Usage {
        Usage(
            name: "credentials", summary: "make test credentials for a key server and a simulated device",
            details: """
                Writes certificate.der, private-key.pem and ask.hex; the last two with mode 0600. They work between
                Latchkey's own device and servers only: no Apple device or production service accepts them.
                """,
            options: [out, bits, force, Flag.json],
            examples: [
                "latchkey credentials --out credentials", "latchkey credentials --out credentials-2048 --bits 2048",
            ],
            yes: "the three files are written",
            no: "a file is there already, or cannot be written")
    }

    private static let names = ["certificate.der", "private-key.pem", "ask.hex"]

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let directory = try arguments.required(out)
        if !arguments[force] { try Self.refuseExisting(in: directory) }
        let credentials = try TestCredentials.make(bits: arguments[bits] ?? 1024)
        try Self.write(credentials, to: directory)
        let certificate = credentials.credential.certificate
        let files = Self.names.map { "\(directory)/\($0)" }
        if arguments[Flag.json] {
            try console.printJSON(
                Facts(bits: certificate.rsaBits, files: files, sha1: certificate.fingerprint.hexString))
        } else {
            console.print(files.joined(separator: "\n"))
        }
        return .yes
    }

    private struct Facts: Encodable {
        let bits: Int
        let files: [String]
        let sha1: String
    }

    private static func refuseExisting(in directory: String) throws {
        let existing = names.map { "\(directory)/\($0)" }.first { FileManager.default.fileExists(atPath: $0) }
        if let existing { throw FileError.exists(existing) }
    }

    /// Writes to a temporary folder next to the files first, so that a failure leaves no half of a pair behind.
    static func write(_ credentials: TestCredentials, to directory: String) throws {
        let folder = URL(fileURLWithPath: directory, isDirectory: true)
        let staging = folder.appendingPathComponent(".new-\(UInt32.random(in: 0...(.max)))", isDirectory: true)
        try Leftovers.add(staging.path)
        defer {
            try? FileManager.default.removeItem(at: staging)
            Leftovers.forget(staging.path)
        }
        try credentials.write(to: staging)
        for name in names {
            let target = "\(directory)/\(name)"
            guard rename(staging.appendingPathComponent(name).path, target) == 0 else {
                throw FileError.cannotWrite(target)
            }
        }
    }
}
