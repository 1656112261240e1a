import Foundation
import LatchkeySupport

/// A ZIP archive. Its entries are together at most as large as the archive, stay below its folder, and can be written and read again.
func fuzzZip(_ data: Data) {
    guard let archive = try? ZipArchive(reading: data) else { return }
    require(archive.entries.map(\.data.count).reduce(0, +) <= data.count, "more bytes than there were")
    for entry in archive.entries {
        let folders = entry.name.split(separator: "/", omittingEmptySubsequences: false)
        require(!folders.contains("") && !folders.contains(".."), "a name that leads out of its folder")
    }
    require((try? ZipArchive(reading: archive.data)) == archive, "written, it is not what was read")
}
