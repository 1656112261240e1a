import Foundation
public import LatchkeyCore
import LatchkeyMedia

/// A service's dependencies: an authority that decides about licenses, the time, a log, and the service's own faults and warnings.
public struct ServiceEnvironment: Sendable {
    /// Decides about licenses and makes them.
    public let authority: LicenseAuthority
    /// The clocks for tokens and delays.
    public let time: any Timekeeper
    /// How long a token is valid after it was made, unless its claims say otherwise; `nil` leaves it to the service.
    public let tokenLifetime: Duration?
    /// The rules whose breach passes with a warning, such as `vudrm/tokenOnce`; the vendors' pages list them.
    public let lenient: Set<String>
    /// Makes the service misbehave.
    public let faults = FaultSwitch()

    let requestIDs = RequestIDs()
    let log: @Sendable (String) -> Void
    let warnings = WarningJournal()
    let breaches = WarningJournal()
    let used = UsedTokens()

    /// - Parameters:
    ///   - authority: decides about licenses and makes them.
    ///   - time: the clocks for tokens and delays. Defaults to the machine's.
    ///   - tokenLifetime: how long a token is valid after it was made. Defaults to each service's own lifetime.
    ///   - lenient: the rules whose breach passes with a warning. Defaults to none.
    ///   - log: takes one line per warning and refusal, without secrets. Defaults to nothing.
    public init(
        authority: LicenseAuthority, time: any Timekeeper = SystemTimekeeper(),
        tokenLifetime: Duration? = nil, lenient: Set<String> = [],
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.authority = authority
        self.time = time
        self.tokenLifetime = tokenLifetime
        self.lenient = lenient
        self.log = log
    }

    /// The keys of the authority.
    var keys: ContentKeyStore { authority.keys }

    /// The application certificate in base64, for apps that bundle it; empty without one.
    var inlineCertificate: String { authority.certificate?.der.base64EncodedString() ?? "" }

    func warn(_ warning: ServiceWarning) {
        warnings.add(warning)
        log("warning: \(warning)")
    }
}

/// Makes request IDs: random digits that differ between services and runs, then a counter.
final class RequestIDs: Sendable {
    private let prefix = String(UInt32.random(in: .min ... .max), radix: 16)
    private let count = Locked(0)

    func next() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return "\(prefix)-\(number)"
    }
}
