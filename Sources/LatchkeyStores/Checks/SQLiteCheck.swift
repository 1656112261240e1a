import Foundation
import LatchkeyCore
import LatchkeySystem

/// Checks a SQLite file without writing: whether all of its pages are consistent, unlike those of a file copied while
/// a server wrote it; whether the disk has room; and whether another program holds its lock.
///
/// Blocks while it reads the file.
enum SQLiteCheck {
    static func findings(at path: String) -> [StoreFinding] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        do throws(StoreError) {
            let connection = try SQLiteConnection(path: path, busy: SQLiteStore.patience, for: .checking)
            let words = try connection.rows("PRAGMA quick_check(1)") { row throws(StoreError) in try row.text(0) }
            // SQLite's report names tables and pages, but none of their contents.
            guard words == ["ok"] else { return [.damagedFile(words.first ?? "")] }
            try SQLiteFile.checkRoom(of: path)
            try SQLiteFile.checkLock(of: path)
            return []
        } catch {
            return error.kind == .damaged ? [.damagedFile(error.reason)] : [.fault(error)]
        }
    }
}

extension StoreFinding {
    fileprivate static func damagedFile(_ words: String) -> Self {
        .fault(
            "The file is damaged: \(words.prefix(120).description.onOneLine)",
            "Restore a copy that sqlite3 made with .backup or VACUUM INTO; do not use a file that was copied while a server was writing."
        )
    }
}
