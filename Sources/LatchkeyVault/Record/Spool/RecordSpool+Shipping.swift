import Foundation
import LatchkeyCore
package import LatchkeySystem

extension RecordSpool {
    /// Rows to ship, and the position to acknowledge once they are shipped.
    package struct Portion: Sendable {
        package let batch: RecordBatch
        /// Whether more rows are ready after these.
        package let isFull: Bool
        fileprivate let segment: String
        fileprivate let end: Int
        fileprivate let rows: Int
    }

    /// The oldest unacknowledged rows, of one spool and one day. Blocks.
    /// - Parameters:
    ///   - rows: the most rows.
    ///   - bytes: about the most bytes.
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
                lose(segment)
                continue
            }
            let piece = try SpoolSegment.read(path, from: segment.offset, count: min(left, bytes))
            let portion = Portion(of: piece, segment, rows: rows, hasMore: piece.count < left, node: node) {
                report(.damaged(file: path, bytes: $0, rows: 1, isEnd: $1))
            }
            if portion.batch.lines.isEmpty {
                acknowledge(portion)
                // The file has become shorter.
                if portion.end == segment.offset { lose(segment) }
                continue
            }
            state.withLock { $0.standing.oldest = portion.batch.lines.first?.time }
            return portion
        }
        return nil
    }

    /// Marks the rows of a portion as delivered, so that they are not sent again. Blocks.
    package func acknowledge(_ portion: Portion) {
        let known = state.withLock { state -> [Acknowledged] in
            guard state.segments.first?.name == portion.segment else { return [] }
            state.segments[0].offset = portion.end
            state.segments[0].acknowledgedRows += portion.rows
            state.standing.rows = max(0, state.standing.rows - portion.rows)
            state.standing.oldest = portion.batch.lines.last?.time ?? state.standing.oldest
            return state.segments.filter { $0.offset > 0 }.map(Acknowledged.init)
        }
        // If the write fails, rows are sent again, which a destination notices.
        if !known.isEmpty { Acknowledged.write(known, in: folder) }
    }

    /// The rest of a segment is missing from its file, or the file is missing.
    private func lose(_ segment: SpoolSegment) {
        report(
            .damaged(
                file: "\(folder)/\(segment.name)", bytes: segment.size - segment.offset,
                rows: max(1, segment.rows - segment.acknowledgedRows), isEnd: false))
        remove(segment)
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
    /// - Parameter damaged: called with the bytes that are not a row, and whether they are the file's last.
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

/// The position up to which a spool's rows were acknowledged. One file has a line for each spool: a segment's name, bytes, rows.
struct Acknowledged {
    let segment, spool: String
    /// The first sequence of the segment. Everything before it is shipped.
    let first: UInt64
    let offset, rows: Int

    private static let file = "acknowledged"

    init(_ segment: SpoolSegment) {
        (self.segment, spool, first) = (segment.name, segment.spool, segment.first)
        (offset, rows) = (segment.offset, segment.acknowledgedRows)
    }

    /// - Parameter line: without its newline; the result is `nil` for a malformed one.
    private init?(_ line: Substring) {
        let words = line.split(separator: " ")
        guard words.count == 3, let segment = SpoolSegment(named: String(words[0])), let offset = Int(words[1]),
            let rows = Int(words[2]), offset >= 0, rows >= 0
        else { return nil }
        (self.segment, spool, first) = (segment.name, segment.spool, segment.first)
        (self.offset, self.rows) = (offset, rows)
    }

    /// The acknowledgments in a folder's file. Malformed lines are left out: their rows are sent again, which a destination notices.
    static func all(in folder: String) -> [Acknowledged] {
        guard let data = try? PlainFile.read("\(folder)/\(file)", limit: 1 << 20) else { return [] }
        // The last line may be torn: it does not count without its newline.
        return String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast().compactMap { Acknowledged($0) }
    }

    static func write(_ all: [Acknowledged], in folder: String) {
        let text = all.map { "\($0.segment) \($0.offset) \($0.rows)\n" }.joined()
        let aside = "\(folder)/\(file).next"
        guard (try? Data(text.utf8).write(to: URL(filePath: aside))) != nil else { return }
        rename(aside, "\(folder)/\(file)")
    }
}
