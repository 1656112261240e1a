package import LatchkeyCore

/// How much somebody should care about a log line.
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

/// The name of what a log line tells. Names come from the code, never from outside: each has a cap and a count of its own.
package struct LogEvent: Sendable, Hashable, ExpressibleByStringLiteral {
    package let name: String

    package init(stringLiteral name: StaticString) { self.name = name.description }

    /// A license was asked for.
    package static let license: LogEvent = "license"
    /// A request came beyond what the node can do.
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

    /// Those above.
    static let all = [license, shed, packager, admin, configuration, outage, life]
}

/// One line of the log before it is written: raw values, of which the log writes what may be written.
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
    package var face: RequestFace?
    package var outcome: LogOutcome?
    /// A stable code.
    package var reason: String?
    /// The HTTP status.
    package var status: Int?
    package var duration: Duration?
    package var keyID: KeyID?
    /// What a license was given without.
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
    /// What happened, in words that an error or the code gives. Of what a stranger sent it has no more than a refusal repeats: a name, cut short.
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
}

/// How a request ended, in a log line. The raw values are stable.
package enum LogOutcome: String, Sendable, Hashable, CaseIterable {
    case ok, granted, acknowledged, refused, failed, shed

    package init(_ outcome: LicenseOutcome) {
        switch outcome {
        case .granted: self = .granted
        case .acknowledged: self = .acknowledged
        case .refused: self = .refused
        case .failed: self = .failed
        case .shed: self = .shed
        }
    }

    /// By the status of a reply.
    package init(status: Int) { self = status < 400 ? .ok : status < 500 ? .refused : .failed }

    /// By what became of a request.
    package init(_ outcome: RequestOutcome) { self.init(status: outcome.refusal?.status ?? 200) }
}

extension LogEvent {
    /// How many lines a second are written at most. Requests that cost a signature or a private key come no faster than machines make them: all
    /// are written, as far as the writer's memory reaches.
    var linesPerSecond: Int { self == .license || self == .packager ? 50_000 : 1_000 }
}
