package import LatchkeySystem

/// The destination of all nodes' rows, each stored exactly once.
///
/// A destination stores the position of each spool with the rows, and changes both atomically: a crash on either side neither loses a row
/// nor doubles one.
///
/// Source: `Documentation/Server/Record.md` §3.
package protocol RecordDestination: Sendable {
    /// The engine's name, such as `postgresql`.
    var engine: String { get }
    /// How long a few rows may wait for more.
    var interval: Duration { get }

    /// Takes rows of one spool, in order: all, or none. Rows up to its position of the spool are skipped.
    /// - Returns: its position of the spool now: at least the last row's, unless rows before the first are missing.
    /// - Throws: `StoreError`. It is unknown then whether the rows were taken.
    func take(_ batch: RecordBatch) async throws(StoreError) -> UInt64

    /// Prepares for rows of coming days, and drops days whose rows are all too old by the destination's own clock.
    /// - Parameters:
    ///   - today: the day by the node's clock, which may be wrong, in days since 1970 by UTC.
    ///   - days: how many days are kept, today among them; `nil` for all.
    /// - Returns: how many days were dropped; 0 if another node does it.
    /// - Throws: `StoreError`; `storeMisconfigured` if the destination keeps more days than that.
    func keepDays(today: Int, days: Int?) async throws(StoreError) -> Int

    /// Erases an account from all existing rows, and for `RecordErasures.days` from later arrivals.
    /// - Returns: how many rows changed now.
    /// - Throws: `StoreError`. Repeating is harmless.
    func erase(_ erasure: RecordErasure) async throws(StoreError) -> Int

    /// How many rows `erase` would change.
    func count(_ erasure: RecordErasure) async throws(StoreError) -> Int

    /// Checks whether it would take rows, without writing anything.
    /// - Returns: the problems; empty for a healthy destination.
    func findings() async -> [StoreError]

    /// Releases its open files and connections.
    func close()
}

/// Rows of one spool and one day, in the order of their sequences.
package struct RecordBatch: Sendable, Hashable {
    /// One row, ready to be sent.
    package struct Line: Sendable, Hashable {
        package let sequence: UInt64
        /// Milliseconds since 1970.
        package let time: Int64
        /// The row as one line of JSON, without a newline.
        package let json: [UInt8]

        package init(sequence: UInt64, time: Int64, json: [UInt8]) {
            (self.sequence, self.time, self.json) = (sequence, time, json)
        }

        /// The day, in days since 1970 by UTC.
        package var day: Int { Int(time / 86_400_000) }
    }

    package let node: String
    package let spool: String
    /// At least one.
    package let lines: [Line]

    package init(node: String, spool: String, lines: [Line]) {
        (self.node, self.spool, self.lines) = (node, spool, lines)
    }

    /// The lines after a position.
    package func lines(after position: UInt64) -> ArraySlice<Line> {
        lines[(lines.firstIndex { $0.sequence > position } ?? lines.endIndex)...]
    }
}
