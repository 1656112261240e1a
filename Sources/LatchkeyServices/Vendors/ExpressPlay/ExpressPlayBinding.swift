import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// The devices that an ExpressPlay token is for.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`, `requestType`.
enum ExpressPlayBinding: Sendable, Equatable {
    /// Type 1: valid for a time, on any device.
    case timeBased
    /// Type 2: playback registers the device for the viewer's cookie with this digest.
    case registration(cookie: Data)
    /// Type 3: valid only on the device with this digest.
    case deviceBound(device: Data)

    /// The digest of a cookie or of a device's identifier, 32 bytes.
    static func digest(_ secret: Secret) -> Data {
        Data((try? MessageDigest.sha256(Array(secret.revealed))) ?? [])
    }
}

extension ExpressPlayBinding {
    /// The bytes in a token: none, or the kind and a digest, 33 bytes.
    var bytes: Data {
        switch self {
        case .timeBased: Data()
        case .registration(let cookie): Data([2]) + cookie
        case .deviceBound(let device): Data([3]) + device
        }
    }

    /// - Parameter bytes: the bytes in a token. The result is `nil` for any other bytes.
    init?(_ bytes: Data) {
        let digest = Data(bytes.dropFirst())
        switch (bytes.first, digest.count) {
        case (nil, _): self = .timeBased
        case (2, 32): self = .registration(cookie: digest)
        case (3, 32): self = .deviceBound(device: digest)
        default: return nil
        }
    }
}

/// The devices that viewers registered, each by the digest of the viewer's cookie; the latest 1,000.
///
/// One device per cookie: the public pages mention one registration and no second device.
final class ExpressPlayDevices: Sendable {
    private let devices = Locked(BoundedDictionary<Data, Data>(limit: 1_000))

    func register(_ device: Data, for cookie: Data) {
        devices.withLock { _ = $0.updateValue(device, forKey: cookie) }
    }

    func device(of cookie: Data) -> Data? { devices.withLock { $0[cookie] } }
}
