import Foundation

/// A folder that is gone when the test is.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "latchkey-e2e-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String) -> URL { url.appending(path: name) }
    func path(_ name: String) -> String { file(name).path }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: file(name))
        return path(name)
    }
}
