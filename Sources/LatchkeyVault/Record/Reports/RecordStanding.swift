package import LatchkeySystem

/// How far the record reaches, into the past and up to now.
package struct RecordStanding: Sendable, Hashable {
    /// A node that wrote rows.
    package struct Node: Sendable, Hashable {
        package let name: String
        /// When it last shipped rows, or the time of the newest row, in milliseconds since 1970.
        package let newest: Int64

        package init(_ name: String, newest: Int64) { (self.name, self.newest) = (name, newest) }
    }

    /// A time before which there is no row: the oldest row's if it is known, in milliseconds since 1970; `nil` without any row.
    package let oldest: Int64?
    /// By name.
    package let nodes: [Node]
    /// When the record was asked, in milliseconds since 1970, by its own clock.
    package let asOf: Int64

    package init(oldest: Int64?, nodes: [Node], asOf: Int64) {
        (self.oldest, self.nodes, self.asOf) = (oldest, nodes.sorted { $0.name < $1.name }, asOf)
    }
}

/// A record that answers more than queries for rows.
///
/// Source: `Documentation/Server/Reports.md` §5.
package protocol RecordReporter: RecordReader {
    /// Counts.
    /// - Throws: `StoreError`; `storeUnfit` for a range that is too long for the engine.
    func report(_ report: RecordReport) async throws(StoreError) -> RecordReportAnswer

    /// Some of the rows, the newest first, and the lines that could not be read on the way to them.
    /// - Throws: `StoreError`.
    func page(_ query: RecordQuery) async throws(StoreError) -> (rows: [LicenseRecordRow], unread: UnreadLines)

    /// The numbers of concurrent viewers of a tenant.
    /// - Throws: `StoreError`.
    func viewers(_ question: RecordViewers.Question) async throws(StoreError) -> RecordViewers

    /// How far it reaches.
    /// - Parameter tenant: the tenant of the oldest row, if the engine distinguishes tenants; `nil` for all.
    /// - Throws: `StoreError`.
    func standing(of tenant: String?) async throws(StoreError) -> RecordStanding
}

extension RecordReporter {
    package func page(
        _ query: RecordQuery
    ) async throws(StoreError) -> (rows: [LicenseRecordRow], unread: UnreadLines) {
        (try await rows(query), UnreadLines())
    }
}
