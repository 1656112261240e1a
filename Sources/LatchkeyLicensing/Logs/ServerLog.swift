package import LatchkeyCore

/// The log: one JSON object a line.
///
/// Each event has a cap: in a storm the first lines of each period say what happens, and the first line of the next one counts the rest,
/// including lines for which the writer had no room. If no such line follows, `tellDropped` writes one.
///
/// Source: `Documentation/LicenseServer.md` §9.4.
package final class ServerLog: Sendable {
    fileprivate struct Share {
        var period: Int64
        var written = 0
        var dropped = 0
    }

    private let writer: LineWriter
    private let text: LogText
    private let level: LogLevel
    private let cap: Int?
    private let period: Duration
    private let timekeeper: any Timekeeper
    private let whenDropped: @Sendable (LogEvent) -> Void
    private let shares = Locked<[LogEvent: Share]>([:])
    /// How many lines the output did not take since the start, and how many of them were reported.
    private let refused = Locked<(count: Int, told: Int)>((0, 0))

    /// - Parameters:
    ///   - writer: writes the lines of this log alone.
    ///   - pseudonyms: names viewers.
    ///   - cut: how much of an address is written. Defaults to /24 and /48.
    ///   - node: the name of this node, in each line. Defaults to none.
    ///   - level: lines below it are not written. Defaults to `info`.
    ///   - cap: how many lines of one event per period. Defaults to 50,000 for players' and packagers' served requests, 1,000 for others.
    ///   - period: the period of the cap. Defaults to 1 s.
    ///   - timekeeper: the clock.
    ///   - whenDropped: called for every line beyond the cap, every one for which the writer has no room, and, as `log`, every one that the
    ///     output does not take, to count it.
    package init(
        _ writer: LineWriter, pseudonyms: UserPseudonyms, cut: AddressCut = .logs, node: String? = nil,
        level: LogLevel = .info, cap: Int? = nil, period: Duration = .seconds(1),
        timekeeper: any Timekeeper = SystemTimekeeper(),
        whenDropped: @escaping @Sendable (LogEvent) -> Void = { _ in }
    ) {
        self.writer = writer
        text = LogText(pseudonyms, cut, node: node)
        self.level = level
        self.cap = cap.map { max(1, $0) }
        self.period = max(period, .milliseconds(1))
        self.timekeeper = timekeeper
        self.whenDropped = whenDropped
        writer.whenRefused { [weak self] count in
            self?.refused.withLock { $0.count += count }
            for _ in 0..<count { whenDropped(.log) }
        }
    }

    /// Writes an entry, unless its level is too low or its event has used up its share.
    package func write(_ entry: LogEntry) {
        guard entry.level >= level else { return }
        let period = Int64(saturating: timekeeper.uptime / period)
        let dropped: Int? = shares.withLock {
            $0[entry.event, default: Share(period: period)].take(in: period, cap ?? entry.event.linesPerSecond)
        }
        guard let dropped else { return whenDropped(entry.event) }
        guard !writer.append(text.line(entry, at: timekeeper.date, dropped: dropped)) else { return }
        // The next line that has room reports this one, and the drops that it would have reported.
        shares.withLock { $0[entry.event]?.dropped += dropped + 1 }
        whenDropped(entry.event)
    }

    /// Writes a line for each event with dropped lines that were not reported yet, beyond the event's cap. Call it each second and before
    /// the end, so that the last ones are reported, too.
    package func tellDropped() {
        let dropped = shares.withLock { shares in
            let dropped = shares.filter { $0.value.dropped > 0 }.mapValues(\.dropped)
            for event in dropped.keys { shares[event]?.dropped = 0 }
            return dropped
        }
        for (event, count) in dropped.sorted(by: { $0.key.name < $1.key.name }) where !tell(count, of: event) {
            shares.withLock { $0[event]?.dropped += count }
        }
        // The number since the start: if the output does not take this line either, the next one has them all.
        let (count, told) = refused.withLock { $0 }
        if count > told, tell(count, of: .log) { refused.withLock { $0.told = count } }
    }

    private func tell(_ count: Int, of event: LogEvent) -> Bool {
        let words = event == .log ? "Lines not accepted by the log's output since the start" : "Lines were dropped"
        let entry = LogEntry(.warning, event, message: "\(words): \(count).")
        return writer.append(text.line(entry, at: timekeeper.date, dropped: count))
    }
}

extension ServerLog.Share {
    /// One line of the share.
    /// - Returns: `nil` if there is none left; else, how many lines were dropped since the last one.
    fileprivate mutating func take(in period: Int64, _ cap: Int) -> Int? {
        if period != self.period { (self.period, written) = (period, 0) }
        guard written < cap else {
            dropped += 1
            return nil
        }
        written += 1
        defer { dropped = 0 }
        return dropped
    }
}
