public import Foundation
import LatchkeyForms

/// An operator's order to license nothing to an account or a device, whatever the policies say.
///
/// Source: `Documentation/LicenseServer.md` §7.6.
public struct Block: Sendable, Hashable, Codable {
    /// Whether a block is of an account or of a device. The raw values are stable.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// The viewer's account, as the token names it.
        case account
        /// A device, as the token names it, or by the digest of the SPC's identifier.
        case device
    }

    /// The account or the device that a block is of.
    public struct Subject: Sendable, Hashable, Codable {
        /// The tenant of the account or device.
        public internal(set) var tenant: String
        /// Whether the name is an account's or a device's.
        public internal(set) var kind: Kind
        /// The name as records hold it: the SHA-256 of a long one.
        public internal(set) var name: String

        /// - Parameters:
        ///   - kind: whether the name is an account's or a device's.
        ///   - name: the name, in a token or as records hold it.
        ///   - tenant: the tenant.
        public init(_ kind: Kind, _ name: String, of tenant: String) {
            (self.tenant, self.kind) = (tenant, kind)
            self.name = kind == .account ? name.storedAccount : name.storedName()
        }
    }

    /// The blocked account or device.
    public internal(set) var subject: Subject
    /// The operator's reason, for other operators. No viewer sees it.
    public internal(set) var reason: String
    /// The operator's name.
    public internal(set) var by: String
    /// When it was set; whole milliseconds.
    public internal(set) var since: Date
    /// From when on it does not count; `nil` without an end.
    public internal(set) var end: Date?

    /// A block as an operator sets it, or as read from a store.
    public init(_ subject: Subject, reason: String, by operatorName: String, since: Date, until end: Date? = nil) {
        (self.subject, self.reason, by) = (subject, reason, operatorName)
        (self.since, self.end) = (since.inMilliseconds, end?.inMilliseconds)
    }

    /// Whether it counts at a time.
    package func isInForce(at now: Date) -> Bool { end.map { now < $0 } ?? true }

    /// The refusal that it causes.
    package var refusal: LicenseRefusal { LicenseRefusal(.policy(objection), reason: words) }

    var objection: PolicyObjection {
        switch subject.kind {
        case .account: .accountBlocked
        case .device: .deviceBlocked
        }
    }

    /// The reason that the viewer sees.
    var words: String { "The \(subject.kind.rawValue) is blocked\(end.map { " until \(DateText.text($0))" } ?? "")." }
}

extension Block {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(
            Subject(.account, "", of: ""), reason: "", by: "", since: Date(timeIntervalSince1970: 0)),
        members: [
            .defaulting("tenant", \.subject.tenant, .text, to: ""), .required("kind", \.subject.kind, .word),
            .required("name", \.subject.name, .anyText), .defaulting("reason", \.reason, .anyText, to: ""),
            .defaulting("by", \.by, .anyText, to: ""), .required("since", \.since, .date),
            .optional("until", \.end, .date),
        ])
}
