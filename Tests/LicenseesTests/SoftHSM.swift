import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensees

/// SoftHSM with tokens of this process's tests. One for all tests, because a module is initialized once in a process.
///
/// Every suite has its own tokens, so that one may lose its sessions while others use theirs.
struct SoftHSM {
    static let module = [
        "/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
        "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so",
        "/usr/local/lib/softhsm/libsofthsm2.so", "/opt/homebrew/lib/softhsm/libsofthsm2.so",
    ].first(where: FileManager.default.fileExists)
    private static let tool = program("softhsm2-util")
    private static let openSC = program("pkcs11-tool")

    static var isThere: Bool { module != nil && tool != nil }
    static var hasOpenSC: Bool { isThere && openSC != nil }
    static let whyNot = "SoftHSM is not installed"

    static let pin = Secret("1234")

    /// The tokens. Each has the keys `small` (1024 bits, id 01) and `large` (2048 bits, id 02) of `LicenseeStage`, and two named `twin`.
    enum Token: String, CaseIterable {
        case license, lost, guarded
    }

    private static let tokens = Result { try Tokens() }

    /// The address of a key; makes the tokens first.
    static func address(_ token: Token, _ key: String) throws -> String {
        _ = try tokens.get()
        return "pkcs11:token=\(token.rawValue);\(key);type=private?module-path=\(module ?? "")"
    }

    /// A key of a token.
    static func key(_ token: Token, _ key: String, pin: Secret = pin) throws -> PKCS11Key {
        try PKCS11Key(PKCS11Address(address(token, key)), pin: pin)
    }

    private static func program(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + name }
            .first(where: FileManager.default.isExecutableFile)
    }

    /// The tokens' folder, which lives as long as the process does.
    private struct Tokens: Sendable {
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            try folder.write("", to: "tokens/.keep")
            let text =
                "directories.tokendir = \(folder.path("tokens"))\nobjectstore.backend = file\nlog.level = ERROR\n"
            // SoftHSM reads it when it is initialized, and by its own programs below.
            setenv("SOFTHSM2_CONF", try folder.write(text, to: "softhsm2.conf"), 1)
            try LicenseeStage.small.credentials.write(to: folder.file("small"))
            try LicenseeStage.large.credentials.write(to: folder.file("large"))
            for token in Token.allCases {
                try softHSM(["--init-token", "--free", "--label", token.rawValue, "--so-pin", "5678"])
                try add("small", to: token, label: "small", id: "01")
                try add("large", to: token, label: "large", id: "02")
                try add("small", to: token, label: "twin", id: "03")
                try add("large", to: token, label: "twin", id: "04")
            }
            guard let openSC = SoftHSM.openSC, let module = SoftHSM.module else { return }
            try Command.run(
                openSC,
                ["--module", module, "--token-label", Token.license.rawValue, "--login", "--pin", "1234"]
                    + ["--keypairgen", "--key-type", "rsa:1024", "--label", "loose", "--extractable"])
        }

        private func add(_ credentials: String, to token: Token, label: String, id: String) throws {
            try softHSM(
                ["--import", folder.path("\(credentials)/private-key.pem"), "--token", token.rawValue]
                    + ["--label", label, "--id", id])
        }

        private func softHSM(_ arguments: [String]) throws {
            try Command.run(SoftHSM.tool ?? "", arguments + ["--pin", "1234"])
        }
    }
}
