import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeySystem
import LatchkeyTerminal

/// A folder with everything that a server needs, made from scratch: credentials, secrets, a key set, policies, a configuration.
struct DemoFolder {
    let url: URL
    /// The key that demo packagers send.
    let packagerKey: Secret
    /// The key that operators send.
    let adminKey: Secret

    private enum Name {
        static let configuration = "server.json"
        static let tokenKey = "token-key.hex"
        static let packagerKey = "packager-key.txt"
        static let adminKey = "admin-key.txt"
    }

    /// Opens a folder, and creates it if needed.
    /// - Parameters:
    ///   - url: the folder.
    ///   - ports: the ports for players, packagers and operators; 0 for free ones. Written into the configuration.
    ///   - credentials: the credentials of a new folder. Defaults to new ones of 2048 bits.
    /// - Throws: errors of files.
    init(_ url: URL, ports: [Int], credentials: TestCredentials? = nil) throws {
        self.url = url
        let file = { (name: String) in url.appending(path: name) }
        if !FileManager.default.fileExists(atPath: file(Name.configuration).path) { try Self.make(url, credentials) }
        let read = { (name: String) in
            try String(contentsOf: file(name), encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        packagerKey = Secret(try read(Name.packagerKey))
        adminKey = Secret(try read(Name.adminKey))
        try Self.configuration(ports, packagerKey, adminKey).write(to: file(Name.configuration))
    }

    /// An account that the demo's policy blocks, to see a refusal.
    static let blockedViewer = "viewer-blocked"

    /// The configuration's file.
    var configuration: String { url.appending(path: Name.configuration).path }

    /// The file of the key that operators send.
    var adminKeyFile: String { url.appending(path: Name.adminKey).path }

    /// The folder of the test credentials.
    var credentials: String { url.appending(path: "credentials").path }

    /// A viewer's token for everything, good for an hour.
    /// - Parameter claims: its further claims.
    /// - Throws: `demoDamaged`, and errors of files.
    static func token(
        in url: URL, for viewer: String, at date: Date, claims: [String: JSONValue] = [:]
    ) throws -> Secret {
        let file = try InputFile.read(url.appending(path: Name.tokenKey).path, limit: 4_096)
        let text = String(decoding: file, as: UTF8.self)
        guard let key = Data(hexString: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Diagnosis(
                code: "demoDamaged", reason: "\(Name.tokenKey) in the demo's folder is not hexadecimal.",
                remedy: "Remove the folder \(url.path); the demo will recreate it.")
        }
        let signer = try TokenSigner(.hs256, id: TokenKeyID("demo"), secret: Secret(key))
        let now = date.timeIntervalSince1970.rounded(.down)
        let usual: [String: JSONValue] = [
            "sub": .text(viewer), "jti": .text(UUID().uuidString.lowercased()), "iat": .number(now),
            "exp": .number(now + 3_600),
        ]
        return try signer.token(usual.merging(claims) { $1 })
    }
}

extension DemoFolder {
    private static func make(_ url: URL, _ credentials: TestCredentials?) throws {
        try FileManager.default.createDirectory(
            at: url.appending(path: "policies"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        try (credentials ?? .make(bits: 2048)).write(to: url.appending(path: "credentials"))
        let tokenKey = Secret.random(32)
        for (name, text) in [
            ("kek.hex", Secret.random(32).revealed.hexString),
            ("node-secret.hex", Secret.random(32).revealed.hexString),
            (Name.tokenKey, tokenKey.revealed.hexString),
            (Name.packagerKey, "packager-" + Secret.random(16).revealed.hexString),
            (Name.adminKey, "admin-" + Secret.random(16).revealed.hexString),
            ("jwks.json", keySet(tokenKey)),
        ] {
            try PrivateFile.write(Secret(text + "\n"), to: url.appending(path: name))
        }
        try Data(policy.utf8).write(to: url.appending(path: "policies/demo.json"))
    }

    private static func keySet(_ key: Secret) -> String {
        """
        {"keys":[{"kty":"oct","kid":"demo","alg":"HS256","use":"sig","k":"\(Base64URL.text(key.revealed))"}]}
        """
    }

    private static let policy = """
        {
          "version": 1,
          "name": "demo",
          "validity": {"type": "lease", "lease": "5m"},
          "concurrency": {"scope": "account", "limit": 3, "mode": "refuseNewest", "grace": "20s"},
          "outage": {"sessionStore": "allow:2m"},
          "blocked": {"users": ["\(blockedViewer)"]},
          "examples": [
            {"facts": {"now": "2026-11-22T15:00:00Z", "grant": {"account": "ann", "session": "one"}},
             "expect": "license"},
            {"facts": {"now": "2026-11-22T15:00:00Z", "grant": {"account": "\(blockedViewer)", "session": "one"}},
             "expect": "blocked"}
          ]
        }

        """

    private static func configuration(_ ports: [Int], _ packagerKey: Secret, _ adminKey: Secret) throws -> Data {
        func digest(_ key: Secret) throws -> String {
            try key.withUnsafeBytes { try MessageDigest.sha256(Array($0)) }.hexString
        }
        func listener(_ index: Int) -> String { #"{"address": "127.0.0.1", "port": \#(ports[index])}"# }
        let text = """
            {
              "version": 1,
              "players": \(listener(0)),
              "packagers": \(listener(1)),
              "operators": \(listener(2)),
              "stores": {"sessions": "sqlite:latchkey.db", "keys": "sqlite:latchkey.db", "audit": "sqlite:latchkey.db"},
              "keyEncryptionKey": {"id": "demo", "file": "kek.hex"},
              "nodeSecret": {"file": "node-secret.hex"},
              "licensee": {"credentials": [{"folder": "credentials"}]},
              "policies": "policies",
              "drainDelay": "0s",
              "admins": [{"name": "demo", "key": "\(try digest(adminKey))", "role": "security"}],
              "tenants": {
                "demo": {
                  "policy": "demo",
                  "tokens": {"keys": "jwks.json", "longestLife": "1d"},
                  "packagers": [{"name": "demo", "apiKey": "\(try digest(packagerKey))",
                    "rights": ["speke:read", "common-encryption:read", "keys:import", "keys:export", "slots:take"]}],
                  "unlisted": "derive",
                  "clearKey": true,
                  "origins": ["*"]
                }
              }
            }

            """
        return Data(text.utf8)
    }
}
