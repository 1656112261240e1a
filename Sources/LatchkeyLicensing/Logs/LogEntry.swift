package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
import LatchkeyVendorWire

/// The severity of a log line.
package enum LogLevel: String, Sendable, Hashable, CaseIterable, Comparable {
    case debug, info, warning, error

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }

    package static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }
}

/// The kind of a log line. Names come from the code, never from outside: each has its own cap and count.
package struct LogEvent: Sendable, Hashable, ExpressibleByStringLiteral {
    package let name: String

    package init(stringLiteral name: StaticString) { self.name = name.description }

    /// A license was requested.
    package static let license: LogEvent = "license"
    /// A player reported that its session plays on, or that it is over.
    package static let heartbeat: LogEvent = "heartbeat"
    /// A player asked for the application certificate, or for the description of the API for slots.
    package static let certificate: LogEvent = "certificate"
    /// A player's request was for an address that no tenant has, or beyond a rate limit.
    package static let stray: LogEvent = "stray"
    /// A request came beyond the node's capacity.
    package static let shed: LogEvent = "shed"
    /// A packager asked for keys, or brought some.
    package static let packager: LogEvent = "packager"
    /// The admin API was used.
    package static let admin: LogEvent = "admin"
    /// The configuration was read, or could not be.
    package static let configuration: LogEvent = "configuration"
    /// A store's outage rule came into force, or ended.
    package static let outage: LogEvent = "outage"
    /// The process starts, drains or stops.
    package static let life: LogEvent = "life"
    /// The record of licenses: rows that were lost, or cannot be shipped.
    package static let record: LogEvent = "record"
    /// The log's own output did not take lines.
    package static let log: LogEvent = "log"

    /// All of the above.
    static let all = [
        license, heartbeat, certificate, stray, shed, packager, admin, configuration, outage, life, record, log,
    ]

    /// The event of a player's request, by endpoint, unless it was turned away before it was read.
    package init(of report: LicenseReport) {
        if LogOutcome(report.outcome) == .shed {
            self = .shed
        } else {
            self = report.endpoint.event
        }
    }
}

extension RequestEndpoint {
    /// The log event of a player's or packager's request.
    fileprivate var event: LogEvent {
        switch self {
        case .fairPlay, .clearKey, .slot, .vendor(_, .license): .license
        case .heartbeat, .session: .heartbeat
        case .certificate, .vendor(_, .certificate), .slotDescription: .certificate
        case .speke, .spekeHeartbeat, .commonEncryption, .cpixImport, .cpixExport: .packager
        case .none: .stray
        }
    }
}

/// One line of the log before it is written: raw values, some of which the log masks or omits.
///
/// There is no member for a token, an SPC, a CKC, a key or a URL of others.
///
/// Source: `Documentation/LicenseServer.md` §9.4.
package struct LogEntry: Sendable {
    package var level: LogLevel
    package var event: LogEvent
    package var requestID: RequestID?
    package var trace: TraceContext?
    package var tenant: String?
    package var endpoint: RequestEndpoint?
    /// How a request ended. Set by `end`, which takes the reason with it.
    package private(set) var outcome: LogOutcome?
    /// A stable code: of a refusal, or of an error.
    package var reason: String?
    /// The HTTP status.
    package var status: Int?
    package var duration: Duration?
    /// The system that a slot is for; `nil` where the endpoint says it.
    package var drm: LicenseRequestFacts.DRM?
    package var keyID: KeyID?
    /// The checks that a license was given without.
    package var degraded: [Degradation] = []
    /// Where the key came from.
    package var keyOrigin: KeyOrigin?
    /// The viewer as the token names it; written as a pseudonym of the tenant, and not at all without a tenant.
    package var user: String?
    /// The client's whole address; written cut.
    package var address: AddressRange?
    /// Which of the server's own listeners it is about: `players`, `packagers`, `operators`.
    package var listener: String?
    /// Where that listener is, such as `http://127.0.0.1:8443`.
    package var url: String?
    /// A description from the error or the code. Of a stranger's input it has no more than a refusal repeats: a name, cut short.
    package var message: String?

    package init(_ level: LogLevel, _ event: LogEvent, message: String? = nil) {
        self.level = level
        self.event = event
        self.message = message
    }

    /// An error, with its code as reason.
    package init(_ event: LogEvent, _ error: some DiagnosableError, level: LogLevel = .error, tenant: String? = nil) {
        self.init(level, event, message: "\(error.reason) \(error.remedy)")
        (reason, self.tenant) = (error.code, tenant)
    }

    /// The outcome of a player's or packager's request. A refusal comes with its code and its reason.
    /// - Parameters:
    ///   - report: the outcome.
    ///   - event: its event in the log.
    ///   - status: the reply's.
    ///   - uptime: the time of the reply, by the uptime clock.
    package init(_ report: LicenseReport, _ event: LogEvent, status: Int, at uptime: Duration) {
        self.init(status >= 500 ? .error : .info, event, message: report.reason)
        drm = report.drm
        (tenant, endpoint, keyID, keyOrigin) = (report.tenant, report.endpoint, report.kid, report.keyOrigin)
        (self.status, duration, outcome) = (status, uptime - report.began, LogOutcome(report.outcome))
        reason = report.refusal.map { report.tokenError?.code ?? $0.code }
        user = report.record.map(\.facts.grant.account)
    }

    /// How an operator's request ended: as requested, or with a refusal, whose code and reason the entry gets.
    package mutating func end(_ refusal: (any DiagnosableError)?, status: Int) {
        self.status = status
        guard let refusal else { return outcome = .ok }
        (outcome, reason) = (status < 500 ? .refused : .failed, refusal.code)
        message = [message, refusal.reason].compactMap { $0 }.joined(separator: " ")
    }
}

/// How a request ended, in a log line. The raw values are stable.
package enum LogOutcome: String, Sendable, Hashable, CaseIterable {
    case ok, granted, acknowledged, refused, failed, shed

    /// Converts the outcome of a request.
    package init(_ outcome: RequestOutcome) {
        switch outcome {
        case .ok: self = .ok
        case .license: self = .granted
        case .acknowledge: self = .acknowledged
        case .refused(let refusal) where refusal.kind == .overloaded: self = .shed
        case .refused(let refusal): self = refusal.status < 500 ? .refused : .failed
        }
    }
}

extension LogEvent {
    /// Events that come no faster than the machine can serve them.
    private static let served: Set = [license, heartbeat, certificate, packager]

    /// The most lines written per second. Requests served to players and packagers are all written, as far as the writer's memory reaches;
    /// events that cost their sender nothing have a cap, so that they cannot fill a disk.
    var linesPerSecond: Int { Self.served.contains(self) ? 50_000 : 1_000 }
}
