import Foundation
import Testing

@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(1))) struct ProgramEndTests {
    @Test func `no exit handler takes away what a thread still uses when a program ends`() async throws {
        let end = await #expect(processExitsWith: .exitCode(3), observing: [\.standardErrorContent]) {
            atexit { _ = write(STDERR_FILENO, "a handler ran", 13) }
            Interruption.end(with: 3)
        }
        let said = String(decoding: try #require(end).standardErrorContent, as: UTF8.self)
        #expect(!said.contains("a handler ran"), "\(said)")
    }
}
