import Foundation

@testable import LatchkeyVault

/// A row of the record. Written again, it is the same row.
func fuzzRow(_ data: Data) {
    guard let row = try? LicenseRecordRow(json: data) else { return }
    require((try? LicenseRecordRow(json: row.json)) == row, "written, it is not what was read")
}

/// A line of a spool; and a line that holds the input as a spool writes it, which is read again.
func fuzzFrame(_ data: Data) {
    let position = RecordPosition(node: "n", spool: "0123456789abcdef", sequence: 7)
    if let (line, _) = SpoolFrame.line(in: Array(data)[...]) {
        require(line.json.count == data.count - 9, "a row is not all of its line")
    }
    var bytes: [UInt8] = []
    SpoolFrame.append(position, Array(",\"time\":5}".utf8) + data, to: &bytes)
    let found = SpoolFrame.line(in: bytes.dropLast())
    require(found?.line.sequence == 7 && found?.spool == position.spool, "written, it is not read")
    bytes[bytes.count / 2] ^= 1
    require(SpoolFrame.line(in: bytes.dropLast()) == nil, "a bit is wrong, and it is read")
}
