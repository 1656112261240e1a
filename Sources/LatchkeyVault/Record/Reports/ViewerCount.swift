import LatchkeyCore

/// Counts concurrent viewers from rows that are read one after the other.
package struct ViewerCount: Sendable {
    private let question: RecordViewers.Question
    private var most: [Int64: Int] = [:]

    package init(_ question: RecordViewers.Question) { self.question = question }

    /// Takes a row, if it is one of the question's.
    package mutating func add(_ row: LicenseRecordRow) {
        guard row.event == .viewers, question.times.contains(row.time), row.tenant.equalsByteForByte(question.tenant)
        else { return }
        most[row.time - row.time % question.bucket, default: 0].raise(to: row.count)
    }

    /// - Parameter asOf: when the rows were read, in milliseconds since 1970.
    package func answer(asOf: Int64) -> RecordViewers {
        RecordViewers(
            points: most.sorted { $0.key < $1.key }.map { RecordViewers.Point(time: $0.key, most: $0.value) },
            asOf: asOf)
    }
}

extension Int {
    fileprivate mutating func raise(to other: Int) { self = Swift.max(self, other) }
}
