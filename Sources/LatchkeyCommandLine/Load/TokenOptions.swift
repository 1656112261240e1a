import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeySystem
import LatchkeyTerminal

/// The options for the source of viewers' tokens.
enum TokenOptions {
    static let file = Option("token-file", .path("FILE"), "a token that all viewers have")
    private static let command = Option(
        "token-command", .text("COMMAND"), "a shell's command that prints a token for $LATCHKEY_VIEWER")
    private static let key = Option(
        "token-key", .path("FILE"), "a file with hexadecimal digits: tokens are signed with HS256, each viewer's own")
    private static let keyID = Option("token-key-id", .text("NAME"), "the key's name in tokens; defaults to demo")

    static let all: [any Parameter] = [file, command, key, keyID]

    /// Whether the arguments name a source of tokens.
    static func areGiven(_ arguments: Arguments) -> Bool {
        [file.name, command.name, key.name].contains { arguments.values[$0] != nil }
    }

    /// - Throws: `UsageError`, `FileError`, and errors of the key.
    static func tokens(_ arguments: Arguments, _ console: Console) throws -> ViewerTokens {
        let given = [file.name, command.name, key.name].filter { arguments.values[$0] != nil }
        guard given.count <= 1 else { throw UsageError("\(given.joined(separator: " and ")) exclude each other.") }
        if let path = arguments[file] {
            let text = String(decoding: try InputFile.read(path, limit: 16_384, console), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines)
            guard !text.isEmpty else { throw UsageError("\(file.name) needs a file with a token; \(path) is empty.") }
            return .one(Secret(text))
        }
        if let command = arguments[command] { return .command(command) }
        guard let path = arguments[key] else { return .none() }
        let text = String(decoding: try InputFile.read(path, limit: 4_096, console), as: UTF8.self)
        guard let bytes = Data(hexString: text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw UsageError("\(key.name) needs a file of hexadecimal digits.")
        }
        return .signed(
            try TokenSigner(.hs256, id: TokenKeyID(arguments[keyID] ?? "demo"), secret: Secret(bytes)))
    }
}
