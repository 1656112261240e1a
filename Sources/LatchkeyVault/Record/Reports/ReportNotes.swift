import LatchkeyCore

/// Notes for readers of the record's figures: which rows are missing from them.
///
/// Source: `Documentation/Server/Reports.md` §3.
package struct ReportNotes: Sendable, Hashable {
    /// How long a node may be silent before it is named, in milliseconds.
    static let patience: Int64 = 180_000
    /// How long a node that has stopped writing is named, in milliseconds.
    static let memory: Int64 = 30 * 86_400_000
    /// The most nodes that are named.
    static let mostNodes = 20

    /// The rows that this node has not shipped yet.
    package struct Unshipped: Sendable, Hashable {
        package let node: String
        package let rows: Int
        /// The time of the oldest row, in milliseconds since 1970; `nil` if it is unknown.
        package let oldest: Int64?

        package init(node: String, rows: Int, oldest: Int64?) {
            (self.node, self.rows, self.oldest) = (node, rows, oldest)
        }
    }

    /// Sentences, the most important first.
    package let sentences: [String]

    /// - Parameters:
    ///   - times: the times of the query, in milliseconds since 1970.
    ///   - standing: how far the record reaches.
    ///   - unshipped: the rows that this node still has to ship; `nil` if it ships nothing.
    ///   - unread: the lines that could not be read. Defaults to nothing.
    ///   - answer: the groups; `nil` for answers without groups.
    package init(
        on times: Range<Int64>, _ standing: RecordStanding, unshipped: Unshipped?, unread: UnreadLines = UnreadLines(),
        answer: RecordReportAnswer? = nil, grouping: RecordReport.Grouping? = nil
    ) {
        var sentences: [String] = []
        if let oldest = answer?.oldest ?? standing.oldest {
            if times.lowerBound < oldest {
                sentences.append(
                    "The record goes back to \(RecordRange.text(oldest)): the range before that is not covered.")
            }
        } else {
            sentences.append("The record has no rows of the tenant yet.")
        }
        let end = min(times.upperBound, standing.asOf)
        // About the asked node, more is known than the time of its newest row.
        let silent = standing.nodes.filter { node in
            node.name != unshipped?.node && node.newest < end - Self.patience
                && node.newest >= times.lowerBound - Self.memory
        }
        for node in silent.prefix(Self.mostNodes) {
            sentences.append(
                "The node \(node.name.onOneLine) last shipped rows at \(RecordRange.text(node.newest)): later rows, if any, are not in the record yet."
            )
        }
        if silent.count > Self.mostNodes {
            sentences.append("The same applies to \((silent.count - Self.mostNodes).counted("more node")).")
        }
        if let unshipped, unshipped.rows > 0, unshipped.oldest.map({ $0 < times.upperBound }) ?? true {
            let since = unshipped.oldest.map { ", the oldest of \(RecordRange.text($0))" } ?? ""
            sentences.append(
                "The node \(unshipped.node.onOneLine) has \(unshipped.rows.counted("row")) that the record does not have yet\(since)."
            )
        }
        if unread.count > 0 {
            sentences.append(
                "\(unread.count.counted("line")) of the record's files cannot be read by this version; the first is in \(unread.first)."
            )
        }
        if let answer, answer.isCut {
            let which = grouping?.milliseconds == nil ? "those with the most rows" : "the latest"
            sentences.append(
                "\(answer.groups.count) of \(answer.groupCount) groups are listed, \(which); the total includes all groups."
            )
        }
        self.sentences = sentences + (answer?.remarks ?? [])
    }
}
