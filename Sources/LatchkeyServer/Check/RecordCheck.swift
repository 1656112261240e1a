import Foundation
import LatchkeyCore
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// A look whether the record could be kept, which writes nothing: destination, folder, room.
///
/// Source: `Documentation/Server/Record.md` §4.
struct RecordCheck: Sendable {
    let settings: ServerSettings.Record
    let file: ConfigurationFile

    /// In megabytes; a file of the spool has 8.
    private static let least = 16

    func look(_ problems: inout ServerProblems, _ notices: inout [String]) async {
        let destination = await problems.awaiting("record.destination") {
            try file.recordDestination(settings)
        }
        if let destination {
            for finding in await destination.findings() { problems.add(.init("record.destination", finding)) }
            destination.close()
        }
        let (path, needed) = (file.path(settings.folder), settings.megabytes)
        let room = await problems.awaiting("record.folder") {
            try await file.threads.run(path) { try Self.room(for: path) }
        }
        guard let room else { return }
        guard room >= Self.least else {
            return problems.add(
                .init(
                    "record.folder", "The disk of \(path.onOneLine) has \(room) MB left: hardly a row could be kept.",
                    "Make room, or name a folder on another disk."))
        }
        if room < needed {
            notices.append(
                "record.folder: The disk of \(path.onOneLine) has \(room) MB left, and the spool may have \(needed). Make room, or lower record.megabytes."
            )
        }
    }

    /// How many megabytes a folder, or the one in which it is to be made, can take.
    /// - Throws: `FileError` for one that cannot be written.
    private static func room(for path: String) throws(FileError) -> Int {
        FileThreads.visits(path)
        let parent = (path as NSString).deletingLastPathComponent
        let place = access(path, F_OK) == 0 ? path : parent.isEmpty ? "." : parent
        guard access(place, W_OK | X_OK) == 0 else { throw .cannotWrite(place) }
        var facts = statvfs()
        guard statvfs(place, &facts) == 0 else {
            throw .cannotRead(place, because: String(cString: strerror(errno)))
        }
        let (bytes, isBeyond) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        return isBeyond ? .max : Int(clamping: bytes >> 20)
    }
}
