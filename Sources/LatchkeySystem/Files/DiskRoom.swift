import Foundation

/// How much a disk still takes.
package enum DiskRoom {
    /// With fewer megabytes hardly anything can be kept.
    package static let least = 16

    /// How many megabytes a folder, or the one in which it is to be made, can take.
    /// - Throws: `FileError` for one that cannot be written.
    package static func megabytes(at path: String) throws(FileError) -> Int {
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
