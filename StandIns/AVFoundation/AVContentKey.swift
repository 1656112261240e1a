import LatchkeyCore
import StandInEngine

/// A key that a session holds.
@available(iOS 14.5, macOS 11.3, tvOS 14.5, watchOS 7.4, visionOS 1.0, *)
open class AVContentKey: NSObject, @unchecked Sendable {
    public let contentKeySpecifier: AVContentKeySpecifier
    private let protection = Locked(AVExternalContentProtectionStatus.sufficient)
    private let revoked: @Sendable () -> Void

    init(_ specifier: AVContentKeySpecifier, revoked: @escaping @Sendable () -> Void) {
        contentKeySpecifier = specifier
        self.revoked = revoked
    }

    @available(iOS 17.4, macOS 14.4, tvOS 17.4, visionOS 1.1, *)
    @available(watchOS, unavailable)
    public var externalContentProtectionStatus: AVExternalContentProtectionStatus { protection.withLock { $0 } }

    /// Revokes the key. It stops decrypting.
    @available(iOS 17.4, macOS 14.4, tvOS 17.4, watchOS 10.4, visionOS 1.1, *)
    public func revoke() { revoked() }

    func change(_ status: AVExternalContentProtectionStatus) { protection.withLock { $0 = status } }
}
