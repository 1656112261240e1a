public import AVFoundation
import StandInEngine

/// Provides the data for players' keys. All methods are optional (inferred) and block until they have the answer; `nil` is a
/// failure. The SDK calls them on its own thread.
public protocol OTVLicenseDelegate: NSObjectProtocol {
    func scheme() -> String?
    func contentIdentifier(url: URL) -> Data?
    func certificate() -> Data?
    func ckcMessage(spc: Data) -> Data?
    func ckcMessageWithID(spc: Data, assetID: String) -> Data?
    func ckcMessageWith(
        spc: Data, assetID: String, session: AVContentKeySession, keyRequest: AVContentKeyRequest
    ) -> Data?
}

extension OTVLicenseDelegate {
    public func scheme() -> String? {
        CallbackProbe.noteDefault()
        return nil
    }

    public func contentIdentifier(url: URL) -> Data? {
        CallbackProbe.noteDefault()
        return nil
    }

    public func certificate() -> Data? {
        CallbackProbe.noteDefault()
        return nil
    }

    public func ckcMessage(spc: Data) -> Data? {
        CallbackProbe.noteDefault()
        return nil
    }

    public func ckcMessageWithID(spc: Data, assetID: String) -> Data? {
        CallbackProbe.noteDefault()
        return nil
    }

    public func ckcMessageWith(
        spc: Data, assetID: String, session: AVContentKeySession, keyRequest: AVContentKeyRequest
    ) -> Data? {
        CallbackProbe.noteDefault()
        return nil
    }
}
