import Foundation
import LatchkeyCore
import LatchkeySystem

@testable import LatchkeyStores

/// Answers of Redis, whole and in pieces. Both give the same values, and values that are written again are read as the same.
func fuzzRESP(_ data: Data) {
    let (values, error) = answers([Array(data)])
    let size = data.count / 13 + 1
    let pieces = stride(from: 0, to: data.count, by: size).map { Array(data.dropFirst($0).prefix(size)) }
    let (others, otherError) = answers(pieces)
    require(others == values && otherError == error, "in pieces, it is something else")
    let written = values.flatMap(bytes)
    require(answers([written]).values == values, "written, it is something else")
    for case .error(let text) in values {
        let reason = StoreError(redis: text).description
        require(reason.onOneLine == reason, "an error on several lines")
    }
}

private func answers(_ pieces: [[UInt8]]) -> (values: [RESPValue], error: StoreError?) {
    var reader = RESPReader()
    var values: [RESPValue] = []
    do throws(StoreError) {
        for piece in pieces {
            reader.append(piece)
            while let value = try reader.next() { values.append(value) }
        }
        return (values, nil)
    } catch {
        return (values, error)
    }
}

/// An answer as Redis writes it.
private func bytes(_ value: RESPValue) -> [UInt8] {
    switch value {
    case .status(let text): Array("+\(text)\r\n".utf8)
    case .error(let text): Array("-\(text)\r\n".utf8)
    case .integer(let number): Array(":\(number)\r\n".utf8)
    case .bulk(nil): Array("$-1\r\n".utf8)
    case .bulk(let bytes?): Array("$\(bytes.count)\r\n".utf8) + bytes + [0x0d, 0x0a]
    case .list(nil): Array("*-1\r\n".utf8)
    case .list(let values?): Array("*\(values.count)\r\n".utf8) + values.flatMap(bytes)
    }
}
