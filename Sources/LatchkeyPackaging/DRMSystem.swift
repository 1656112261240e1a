package import LatchkeyCore
import LatchkeyVault

/// A DRM system for which signaling can be made.
///
/// Source: `Documentation/LicenseServer.md` §2.4.
package enum DRMSystem: String, Sendable, Hashable, CaseIterable {
    /// FairPlay Streaming.
    case fairPlay = "94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
    /// Widevine.
    case widevine = "edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"
    /// PlayReady.
    case playReady = "9a04f079-9840-4286-ab92-e65be0885f95"
    /// Clear Key AES-128 of SPEKE 2.
    case clearKey = "3ea8778f-7742-4bf9-b18b-e834b2acbd47"
    /// AES-128 of SPEKE 1.
    case clearKeyVersion1 = "81376844-f976-481e-a84e-cc25d39b0b33"

    /// - Parameter id: the system's identifier; unknown ones give `nil`.
    package init?(_ id: KeyID) { self.init(rawValue: id.description) }

    /// The identifier as 16 bytes.
    var bytes: [UInt8] { KeyID(rawValue).map { [UInt8]($0.bytes) } ?? [] }

    /// The schemes that are compatible with the system.
    var schemes: Set<EncryptionScheme> {
        switch self {
        case .fairPlay: [.cbcs]
        case .widevine, .playReady: [.cenc, .cbcs]
        case .clearKey, .clearKeyVersion1: [.cbc1]
        }
    }

    /// The scheme if a document names none, as in SPEKE 1.
    var customaryScheme: EncryptionScheme {
        switch self {
        case .fairPlay: .cbcs
        case .widevine, .playReady: .cenc
        case .clearKey, .clearKeyVersion1: .cbc1
        }
    }
}
