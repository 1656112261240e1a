import Foundation
import LatchkeyCore
package import LatchkeyFiles

extension RecordSpool {
    /// Rows to ship, and what to acknowledge once they are shipped.
    package struct Portion: Sendable {
        package let batch: RecordBatch
        /// Whether more rows follow that are there already.
        package let isFull: Bool
        fileprivate let segment: String
        fileprivate let end: Int
        fileprivate let rows: Int
    }

    /// The oldest rows that are not acknowledged: of one spool and one day. Blocks.
    /// - Parameters:
    ///   - rows: how many at most.
    ///   - bytes: about how many bytes at most.
    /// - Returns: `nil` if there are none.
    /// - Throws: `FileError`.
    package func next(rows: Int = 5_000, bytes: Int = 4 << 20) throws(FileError) -> Portion? {
        while let (segment, isOpen) = state.withLock({ state in
            state.segments.first.map { ($0, state.file != nil && state.segments.count == 1) }
        }) {
            let path = "\(folder)/\(segment.name)"
            let left = segment.size - segment.offset
            guard left > 0 else {
                guard !isOpen else { return nil }
                remove(segment)
                continue
            }
            guard access(path, F_OK) == 0 || errno != ENOENT else {
                report(.damaged(file: path, bytes: left, isEnd: false))
                remove(segment)
                continue
            }
            let piece = try SpoolSegment.read(path, from: segment.offset, count: min(left, bytes))
            let portion = Portion(of: piece, segment, rows: rows, hasMore: piece.count < left, node: node) {
                report(.damaged(file: path, bytes: $0, isEnd: $1))
            }
            if portion.batch.lines.isEmpty {
                acknowledge(portion)
                // Shorter than it was.
                if portion.end == segment.offset {
                    report(.damaged(file: path, bytes: left, isEnd: false))
                    remove(segment)
                }
                continue
            }
            state.withLock { $0.standing.oldest = portion.batch.lines.first?.time }
            return portion
        }
        return nil
    }

    /// The rows of a portion are where they belong, and are not sent again. Blocks.
    package func acknowledge(_ portion: Portion) {
        let segment = state.withLock { state -> SpoolSegment? in
            guard state.segments.first?.name == portion.segment else { return nil }
            state.segments[0].offset = portion.end
            state.segments[0].acknowledgedRows += portion.rows
            state.standing.rows = max(0, state.standing.rows - portion.rows)
            state.standing.oldest = portion.batch.lines.last?.time ?? state.standing.oldest
            return state.segments[0]
        }
        // If it cannot be written, rows are sent again, which a destination notices.
        if let segment {
            Acknowledged(segment: segment.name, offset: segment.offset, rows: segment.acknowledgedRows).write(
                in: folder)
        }
    }

    private func remove(_ segment: SpoolSegment) {
        let isGone = state.withLock { state in
            guard state.segments.first?.name == segment.name else { return false }
            state.segments.removeFirst()
            state.standing.bytes = max(0, state.standing.bytes - segment.size)
            state.standing.rows = max(0, state.standing.rows - (segment.rows - segment.acknowledgedRows))
            if state.segments.isEmpty { state.file = nil }
            state.lastWasLost = false
            return true
        }
        if isGone { unlink("\(folder)/\(segment.name)") }
    }
}

extension RecordSpool.Portion {
    /// - Parameter damaged: told of bytes that are no row, and whether they are the file's last.
    fileprivate init(
        of bytes: [UInt8], _ segment: SpoolSegment, rows: Int, hasMore: Bool, node: String,
        damaged: (Int, Bool) -> Void
    ) {
        var (lines, place, count, day) = ([RecordBatch.Line](), bytes.startIndex, 0, Int?.none)
        while place < bytes.endIndex, lines.count < rows {
            guard let end = bytes[place...].firstIndex(of: SpoolFrame.newline) else {
                if !hasMore {
                    damaged(bytes.endIndex - place, true)
                    place = bytes.endIndex
                }
                break
            }
            if let found = SpoolFrame.line(in: bytes[place..<end]), found.spool == segment.spool {
                guard found.line.day == day ?? found.line.day else { break }
                day = found.line.day
                lines.append(found.line)
            } else {
                damaged(end - place, false)
            }
            place = end + 1
            count += 1
        }
        batch = RecordBatch(node: node, spool: segment.spool, lines: lines)
        (self.segment, self.end, self.rows) = (segment.name, segment.offset + place, count)
        isFull = hasMore || place < bytes.endIndex
    }
}

/// Up to where rows were acknowledged, in a file of its own.
struct Acknowledged {
    let segment: String
    let offset, rows: Int

    private static let file = "acknowledged"

    init(segment: String, offset: Int, rows: Int) { (self.segment, self.offset, self.rows) = (segment, offset, rows) }

    /// `nil` without a file, or for one that is not as it was written: then rows are sent again, which a destination notices.
    init?(in folder: String) {
        guard let data = try? PlainFile.read("\(folder)/\(Self.file)", limit: 4_096) else { return nil }
        let words = String(decoding: data, as: UTF8.self).split(whereSeparator: \.isWhitespace)
        guard words.count == 3, let offset = Int(words[1]), let rows = Int(words[2]), offset >= 0, rows >= 0 else {
            return nil
        }
        self.init(segment: String(words[0]), offset: offset, rows: rows)
    }

    func write(in folder: String) {
        let text = "\(segment) \(offset) \(rows)\n"
        let aside = "\(folder)/\(Self.file).next"
        guard (try? Data(text.utf8).write(to: URL(filePath: aside))) != nil else { return }
        rename(aside, "\(folder)/\(Self.file)")
    }
}
