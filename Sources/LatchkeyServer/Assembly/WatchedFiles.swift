import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeySystem

/// The files that a configuration depends on, so that a change is seen without a signal.
struct WatchedFiles: Equatable, Sendable {
    private struct Stamp: Equatable, Sendable {
        let size: Int
        let changed: Date?
        let number: Int
        /// Its rights: a secret that was open to others, and is not any more, can be read again.
        let mode: Int
    }

    private let stamps: [String: Stamp]

    /// Looks at a configuration's file, and at the files that it names. Blocks as long as the system does.
    init(_ file: ConfigurationFile) {
        var stamps: [String: Stamp] = [:]
        for path in [file.path] + file.settings.files.map(file.path) {
            FileThreads.visits(path)
            stamps[path] = Self.stamp(path)
            for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
                stamps["\(path)/\(name)"] = Self.stamp("\(path)/\(name)")
            }
        }
        self.stamps = stamps
    }

    private static func stamp(_ path: String) -> Stamp? {
        // At the links' targets: a container's mount changes a folder's link, but not the files' own.
        let path = URL(filePath: path).resolvingSymlinksInPath().path
        guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
        return Stamp(
            size: facts[.size] as? Int ?? 0, changed: facts[.modificationDate] as? Date,
            number: facts[.systemFileNumber] as? Int ?? 0, mode: facts[.posixPermissions] as? Int ?? 0)
    }
}
