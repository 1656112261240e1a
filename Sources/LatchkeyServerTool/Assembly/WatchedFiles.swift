import Foundation
import LatchkeyServer

/// The files that a configuration depends on, so that a change is seen without a signal.
struct WatchedFiles: Equatable {
    private struct Stamp: Equatable {
        let size: Int
        let changed: Date?
        let number: Int
    }

    private let stamps: [String: Stamp]

    /// Looks at a configuration's file, its policies, its tenants' key sets, and its credentials.
    init(_ file: ConfigurationFile) {
        let settings = file.settings
        var names = [settings.policies].compactMap { $0 }
        names += settings.tenants.values.compactMap(\.tokens.keys).filter { !$0.contains("://") }
        names += settings.licensee.credentials.flatMap {
            [$0.folder, $0.certificate, $0.key, $0.ask].compactMap { $0 }
        }
        var stamps: [String: Stamp] = [:]
        for path in [file.path] + names.map(file.path) {
            stamps[path] = Self.stamp(path)
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                stamps["\(path)/\(name)"] = Self.stamp("\(path)/\(name)")
            }
        }
        self.stamps = stamps
    }

    private static func stamp(_ path: String) -> Stamp? {
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        return Stamp(
            size: facts[.size] as? Int ?? 0, changed: facts[.modificationDate] as? Date,
            number: facts[.systemFileNumber] as? Int ?? 0)
    }
}
