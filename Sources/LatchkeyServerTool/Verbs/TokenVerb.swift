import Foundation
import LatchkeyCore
import LatchkeyTerminal

/// `latchkey-server token`: a viewer's token for a demonstration.
struct TokenVerb: Verb {
    private let folder = Option("folder", .path("DIR"), "the demo's folder; defaults to latchkey-demo")
    private let viewer = Option("viewer", .text("NAME"), "the account; defaults to viewer-1")

    var printsSecrets: Bool { true }

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "token", summary: "print a viewer's token for the demo tenant",
            details:
                "Valid for an hour, signed with the key in the demo's folder. In production, your token service issues tokens.",
            options: [folder, viewer], examples: ["latchkey-server token --viewer ann"])
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let name = arguments[folder] ?? "latchkey-demo"
        let url = URL(filePath: name, directoryHint: .isDirectory).absoluteURL
        console.print(try DemoFolder.token(in: url, for: arguments[viewer] ?? "viewer-1", at: Date()).revealedText)
        return .yes
    }
}
