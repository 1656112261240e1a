import LatchkeyCore
import StandInEngine

/// A key that a session holds.
public final class AVContentKey: NSObject, @unchecked Sendable {
    public let contentKeySpecifier: AVContentKeySpecifier
    private let protection = Locked(AVExternalContentProtectionStatus.sufficient)
    private let revoked: @Sendable () -> Void

    init(_ specifier: AVContentKeySpecifier, revoked: @escaping @Sendable () -> Void) {
        contentKeySpecifier = specifier
        self.revoked = revoked
    }

    public var externalContentProtectionStatus: AVExternalContentProtectionStatus { protection.withLock { $0 } }

    /// Gives the key back; what it decrypts stops.
    public func revoke() { revoked() }

    func change(_ status: AVExternalContentProtectionStatus) { protection.withLock { $0 = status } }
}
