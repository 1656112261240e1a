import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyLicensing

/// A feed for operators: the latest refusals, and events as they come.
///
/// Everything is bounded: refusals that are kept, events per second, events that wait for a slow reader, and readers.
final class OperatorFeed: Sendable {
    private struct State {
        var refusals: [JSONValue?] = Array(repeating: nil, count: OperatorFeed.mostRefusals)
        var last: UInt64 = 0
        /// The latest requests turned away before they were read, in their own ring: a flood of them pushes out no refusal.
        var sheds: [Shed] = []
        var nextShed = 0
        var readers: [Int: Reader] = [:]
        var nextReader = 0
        var ticking: Task<Void, Never>?
    }

    private struct Reader {
        let events: AsyncStream<Data>.Continuation
        /// The tenants whose refusals and figures they get.
        let scope: TenantScope
        /// How many refusals were sent since the last tick.
        var sent = 0
    }

    static let mostRefusals = 1_000
    /// The most refusals that a reader is sent in a second.
    static let mostPerSecond = 50
    static let mostReaders = 32
    private let state = Locked(State())
    private let timekeeper: any Timekeeper

    init(timekeeper: any Timekeeper = SystemTimekeeper()) { self.timekeeper = timekeeper }

    /// A request that was turned away. Formatted only on demand, because such requests have to cost little.
    private struct Shed {
        let requestID: String
        let tenant: String?
        let endpoint: RequestEndpoint
        let date: Date
    }

    /// Notes a request that was turned away before it was read.
    func shed(_ report: LicenseReport) {
        let shed = Shed(
            requestID: report.requestID, tenant: report.tenant, endpoint: report.endpoint, date: timekeeper.date)
        state.withLock { state in
            if state.sheds.count < Self.mostRefusals { return state.sheds.append(shed) }
            state.sheds[state.nextShed] = shed
            state.nextShed = (state.nextShed + 1) % Self.mostRefusals
        }
    }

    /// The JSON of `refused` and `refusal(of:in:)`.
    static let refusalSchema: JSONSchema = .named(
        "Refused",
        [
            "number?": .count, "time": .date, "tenant?": .text, "endpoint": .text, "requestId": .text, "code": .text,
            "reason": .text, "remedy": .text, "status": .count, "kid?": .text, "explained": .flag,
        ])

    /// Notes a refusal.
    func refused(_ refusal: LicenseRefusal, _ report: LicenseReport) {
        let date = timekeeper.date
        state.withLock { state in
            state.last += 1
            let reason = report.reason ?? refusal.reason
            let remedy = report.tokenError?.remedy ?? refusal.remedy
            let value = JSONValue.members([
                "number": .number(Double(state.last)), "time": .date(date), "tenant": report.tenant.map { .text($0) },
                "endpoint": .text(report.endpoint.name), "requestId": .text(report.requestID),
                "code": .text(report.tokenError?.code ?? refusal.code),
                "reason": .text(String(reason.prefix(300)).onOneLine),
                "remedy": .text(String(remedy.prefix(300)).onOneLine),
                "status": .number(refusal.status), "kid": report.kid.map { .text("\($0)") },
                "explained": .flag(report.record != nil),
            ])
            state.refusals[Int(state.last % UInt64(Self.mostRefusals))] = value
            guard !state.readers.isEmpty else { return }
            let event = Self.event("refusal", value)
            for (number, reader) in state.readers
            where reader.sent < Self.mostPerSecond && reader.scope.covers(report.tenant) {
                state.readers[number]?.sent += 1
                reader.events.yield(event)
            }
        }
    }

    /// The latest refusals, the newest first.
    /// - Parameters:
    ///   - scope: the tenants. Defaults to all.
    ///   - tenant: only this one's; empty for all.
    ///   - number: only those before this one.
    func refusals(in scope: TenantScope = .all, tenant: String, before number: UInt64?, limit: Int) -> [JSONValue] {
        state.withLock { state in
            var found: [JSONValue] = []
            let end = number ?? .max
            var next = end == 0 ? 0 : min(state.last, end - 1)
            while next > 0, found.count < limit, next + UInt64(Self.mostRefusals) > state.last {
                let value = state.refusals[Int(next % UInt64(Self.mostRefusals))]
                if let value, scope.covers(value["tenant"]?.text),
                    tenant.isEmpty || value["tenant"]?.text?.equalsByteForByte(tenant) == true
                {
                    found.append(value)
                }
                next -= 1
            }
            return found
        }
    }

    /// The latest refusal of a request; clients choose identifiers, so several tenants may have used the same.
    /// - Parameter scope: the tenants. Defaults to all.
    func refusal(of requestID: String, in scope: TenantScope = .all) -> JSONValue? {
        state.withLock { state in
            state.refusals.compactMap { $0 }.filter {
                $0["requestId"]?.text?.equalsByteForByte(requestID) == true && scope.covers($0["tenant"]?.text)
            }.max { ($0["number"]?.number ?? 0) < ($1["number"]?.number ?? 0) }
                ?? state.sheds.last { $0.requestID.equalsByteForByte(requestID) && scope.covers($0.tenant) }.map {
                    shed in
                    let refusal = ShedReply.refusal
                    return .members([
                        "time": .date(shed.date), "tenant": shed.tenant.map { .text($0) },
                        "endpoint": .text(shed.endpoint.name),
                        "requestId": .text(shed.requestID), "code": .text(refusal.code),
                        "reason": .text(refusal.reason), "remedy": .text(refusal.remedy),
                        "status": .number(refusal.status), "explained": .flag(false),
                    ])
                }
        }
    }

    /// Server-sent events from now on: `overview` every second, `refusal` as they happen.
    /// - Parameters:
    ///   - scope: the tenants whose refusals are sent. Defaults to all.
    ///   - overview: makes an overview of a scope.
    /// - Returns: `nil` for one reader too many.
    func events(
        in scope: TenantScope = .all, _ overview: @escaping @Sendable (TenantScope) async -> JSONValue
    ) -> AsyncStream<Data>? {
        let (events, continuation) = AsyncStream<Data>.makeStream(bufferingPolicy: .bufferingNewest(128))
        let number: Int? = state.withLock { state in
            guard state.readers.count < Self.mostReaders else { return nil }
            state.nextReader += 1
            state.readers[state.nextReader] = Reader(events: continuation, scope: scope)
            if state.ticking == nil { state.ticking = Task { await self.tick(overview) } }
            return state.nextReader
        }
        guard let number else { return nil }
        continuation.onTermination = { [weak self] _ in self?.leave(number) }
        return events
    }

    private func leave(_ number: Int) {
        let ticking = state.withLock { state -> Task<Void, Never>? in
            state.readers[number] = nil
            guard state.readers.isEmpty else { return nil }
            defer { state.ticking = nil }
            return state.ticking
        }
        ticking?.cancel()
    }

    /// Makes one overview a second for all readers of the same tenants. Ends when the last reader leaves and cancels it.
    private func tick(_ overview: @Sendable (TenantScope) async -> JSONValue) async {
        while !Task.isCancelled {
            for scope in state.withLock({ Set($0.readers.values.map(\.scope)) }) {
                let event = Self.event("overview", await overview(scope))
                state.withLock { state in
                    for (number, reader) in state.readers where reader.scope == scope {
                        state.readers[number]?.sent = 0
                        reader.events.yield(event)
                    }
                }
            }
            guard (try? await timekeeper.sleep(for: .seconds(1))) != nil else { return }
        }
    }

    private static func event(_ name: String, _ value: JSONValue) -> Data {
        Data("event: \(name)\ndata: \(value.canonicalText)\n\n".utf8)
    }
}
