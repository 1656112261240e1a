package import LatchkeySystem

/// Reads rows of the record, of all nodes.
///
/// Source: `Documentation/Server/Record.md` §3.
package protocol RecordReader: Sendable {
    /// The engine's name, such as `postgresql`.
    var engine: String { get }

    /// Some of the rows, the newest first.
    /// - Parameter query: the rows to read.
    /// - Returns: at most as many rows as the query's limit.
    /// - Throws: `StoreError`.
    func rows(_ query: RecordQuery) async throws(StoreError) -> [LicenseRecordRow]
}

/// The rows to read. A member that is `nil` does not restrict them.
package struct RecordQuery: Sendable, Hashable {
    /// Milliseconds since 1970. The upper bound is excluded.
    package var times: Range<Int64>
    package var tenant: String?
    package var account: String?
    package var device: String?
    package var content: String?
    package var country: String?
    package var code: String?
    package var requestID: String?
    package var session: String?
    /// Empty for all.
    package var events: Set<LicenseRecordRow.Event> = []
    /// The most rows.
    package var limit: Int
    /// Only rows before this one, in the order of time, node, spool and sequence: the last row of the previous page.
    package var before: RecordCursor?

    package init(times: Range<Int64>, limit: Int = 100) {
        self.times = times
        self.limit = limit
    }
}

/// The end of a page of rows.
package struct RecordCursor: Sendable, Hashable {
    package let time: Int64
    package let position: RecordPosition

    package init(_ row: LicenseRecordRow) {
        (time, position) = (row.time, row.position)
    }
}
