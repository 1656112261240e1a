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
            try await file.threads.run(path) { try DiskRoom.megabytes(at: path) }
        }
        guard let room else { return }
        guard room >= DiskRoom.least else {
            return problems.add(
                .init(
                    "record.folder", "The disk of \(path.onOneLine) has \(room) MB left, hardly enough for a row.",
                    "Free space, or use a folder on another disk."))
        }
        if room < needed {
            notices.append(
                "record.folder: The disk of \(path.onOneLine) has \(room) MB left, and the spool may need \(needed). Free space, or lower record.megabytes."
            )
        }
    }
}
