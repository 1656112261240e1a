package import LatchkeySystem

/// Where the rows of all nodes end up, each exactly once.
///
/// A destination stores the position of each spool with the rows, and changes both atomically: a crash on either side neither loses a row
/// nor doubles one.
///
/// Source: `Documentation/Server/Record.md` §3.
package protocol RecordDestination: Sendable {
    /// The engine's name, such as `postgresql`.
    var engine: String { get }
    /// For how long few rows may wait for more.
    var interval: Duration { get }

    /// Takes rows of one spool, in order: all, or none. Those up to the position that it has of the spool are left out.
    /// - Returns: the position that it has of the spool now: at least that of the last row, unless rows before the first are missing.
    /// - Throws: `StoreError`. It is unknown then whether the rows were taken.
    func take(_ batch: RecordBatch) async throws(StoreError) -> UInt64

    /// Prepares for rows of days to come, and drops days of which all rows are too old by the destination's own clock.
    /// - Parameters:
    ///   - today: the day by the node's clock, which may be wrong, in days since 1970 by UTC.
    ///   - days: how many days are kept, today among them; `nil` for all.
    /// - Returns: how many days were dropped; 0 where another node does it.
    /// - Throws: `StoreError`; `storeMisconfigured` where the destination keeps more days than that.
    func keepDays(today: Int, days: Int?) async throws(StoreError) -> Int

    /// Asks whether it would take rows, and writes nothing.
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
