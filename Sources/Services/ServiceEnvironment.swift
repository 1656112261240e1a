import Foundation
public import LatchkeyCore
import LatchkeyFairPlay
public import LatchkeyServer

/// What each service stands on: who decides about licenses, the time, a log, and the service's own faults and warnings.
public struct ServiceEnvironment: Sendable {
    /// Decides about licenses and makes them.
    public let authority: LicenseAuthority
    /// The clocks for tokens and delays.
    public let time: any Timekeeper
    /// The service's fault switch.
    public let faults = FaultSwitch()

    let requestIDs = RequestIDs()
    let log: @Sendable (String) -> Void
    let journal = WarningJournal()

    /// - Parameters:
    ///   - authority: decides about licenses and makes them.
    ///   - time: the clocks for tokens and delays; the machine's unless given.
    ///   - log: takes one line per warning, without secrets; dropped unless given.
    public init(
        authority: LicenseAuthority, time: any Timekeeper = SystemTimekeeper(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.authority = authority
        self.time = time
        self.log = log
    }

    /// The application certificate in base64, for apps that carry it along; empty without one.
    var inlineCertificate: String { authority.certificate?.der.base64EncodedString() ?? "" }

    func warn(_ warning: ServiceWarning) {
        journal.add(warning)
        log("warning: \(warning)")
    }
}

/// Numbers for requests: random digits that tell services and runs apart, then a counter.
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
