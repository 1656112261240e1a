import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeySystem

/// The source of viewers' tokens.
struct ViewerTokens: Sendable {
    private enum Source: Sendable {
        case none
        case one(Secret)
        case command(String)
        case signer(TokenSigner)
    }

    private struct Kept: Sendable {
        let token: Secret
        let end: Date
    }

    /// How long a signed token is valid, and how long one is reused.
    private static let life = 540.0, use = 400.0

    private let source: Source
    private let timekeeper: any Timekeeper
    private let kept = Locked<[String: Kept]>([:])

    /// Requests carry no tokens.
    static func none() -> Self { Self(.none, SystemTimekeeper()) }

    /// All viewers have the same token.
    static func one(_ token: Secret) -> Self { Self(.one(token), SystemTimekeeper()) }

    /// A command prints a viewer's token; the viewer is in `LATCHKEY_VIEWER`, the session in `LATCHKEY_SESSION`.
    static func command(_ text: String, timekeeper: any Timekeeper = SystemTimekeeper()) -> Self {
        Self(.command(text), timekeeper)
    }

    /// Tokens are signed here: `sub`, `sid`, `jti`, `iat` and `exp`.
    static func signed(_ signer: TokenSigner, timekeeper: any Timekeeper = SystemTimekeeper()) -> Self {
        Self(.signer(signer), timekeeper)
    }

    private init(_ source: Source, _ timekeeper: any Timekeeper) {
        self.source = source
        self.timekeeper = timekeeper
    }

    /// A viewer's token. A token is reused for some minutes.
    /// - Throws: `tokenCommandFailed`, and errors of signing.
    func token(_ account: String, _ session: String) async throws -> Secret? {
        let now = timekeeper.date
        if let known = kept.withLock({ $0[session] }), known.end > now { return known.token }
        guard let token = try await fresh(account, session) else { return nil }
        kept.withLock { kept in
            if kept.count >= 200_000 { kept.removeAll() }
            kept[session] = Kept(token: token, end: now.addingTimeInterval(Self.use))
        }
        return token
    }

    /// A viewer's token, made now unless there is only one.
    /// - Throws: as `token(_:_:)`.
    func fresh(_ account: String, _ session: String) async throws -> Secret? {
        switch source {
        case .none: return nil
        case .one(let token): return token
        case .command(let text):
            return try await Self.output(of: text, ["LATCHKEY_VIEWER": account, "LATCHKEY_SESSION": session])
        case .signer(let signer):
            let issued = timekeeper.date.timeIntervalSince1970.rounded(.down)
            return try signer.token([
                "sub": .text(account), "sid": .text(session), "jti": .text(UUID().uuidString.lowercased()),
                "iat": .number(issued), "exp": .number(issued + Self.life),
            ])
        }
    }

    /// The output of a shell command, without surrounding whitespace.
    private static func output(of command: String, _ variables: [String: String]) async throws -> Secret {
        // The command has its own thread, which ends with it; a cancelled task stops waiting.
        try await Promise<Secret, any Error>.value { done in
            Thread.detachNewThread {
                let (process, pipe) = (Subprocess(), Pipe())
                process.executableURL = URL(filePath: "/bin/sh")
                process.arguments = ["-c", command]
                process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
                process.standardInput = FileHandle.nullDevice
                process.standardOutput = pipe
                do {
                    try process.run()
                    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
                    process.waitUntilExit()
                    let text = String(decoding: output.prefix(16_384), as: UTF8.self)
                        .trimmingCharacters(in: .whitespacesAndNewlines)
                    guard process.terminationStatus == 0, !text.isEmpty else { throw Self.failure }
                    done.resolve(.success(Secret(text)))
                } catch {
                    done.resolve(.failure(Self.failure))
                }
            }
        }
    }

    private static let failure = Diagnosis(
        code: "tokenCommandFailed", reason: "The token's command failed, or printed nothing.",
        remedy: "Run it in a shell with LATCHKEY_VIEWER=viewer-1, and correct it.")
}
