public import AVFoundation
import LatchkeyCore
import StandInEngine

/// Requests licenses over HTTP. Apps override the methods that differ for their service.
open class OTVCommonLicenseDelegate: NSObject, OTVLicenseDelegate {
    private let certificateURL: URL
    private let licenseURL: URL
    private let kept = Locked<Data?>(nil)

    public init(certificateURL: URL, licenseURL: URL) {
        self.certificateURL = certificateURL
        self.licenseURL = licenseURL
    }

    open func scheme() -> String? { "skd" }

    open func contentIdentifier(url: URL) -> Data? { AssetName.bytes(KeyURI(url.absoluteString)) }

    open func certificate() -> Data? {
        if let certificate = kept.withLock({ $0 }) { return certificate }
        let certificate = BlockingHTTP.send("GET", certificateURL)
        kept.withLock { $0 = certificate }
        return certificate
    }

    open func ckcMessage(spc: Data) -> Data? { ckcMessageWithID(spc: spc, assetID: "") }

    open func ckcMessageWithID(spc: Data, assetID: String) -> Data? {
        guard let headers = generateHTTPHeaders(assetID: assetID),
            let response = BlockingHTTP.send("POST", getLicenseRequestUrl(), headers: headers, body: spc)
        else { return nil }
        let object = try? JSONSerialization.jsonObject(with: response) as? [String: Any]
        guard let object, let text = getCkcFromLicenseResponse(response: object) else { return response }
        let padded = text.padding(toLength: (text.utf8.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        return Data(base64Encoded: padded)
    }

    open func ckcMessageWith(
        spc: Data, assetID: String, session: AVContentKeySession, keyRequest: AVContentKeyRequest
    ) -> Data? { ckcMessageWithID(spc: spc, assetID: assetID) }

    /// The header fields of the license request; `nil` for none.
    open func generateHTTPHeaders(assetID: String) -> [String: String]? { [:] }

    /// The URL of the license request.
    open func getLicenseRequestUrl() -> URL { licenseURL }

    /// The CKC in base64, padded or not, from a JSON response; `nil` if absent.
    open func getCkcFromLicenseResponse(response: [String: Any]) -> String? { response["CkcMessage"] as? String }
}

/// Requests licenses over HTTP with fixed header fields.
open class OTVDefaultLicenseDelegate: NSObject, OTVLicenseDelegate {
    private let inner: Fields

    public init(certificateURL: URL, licenseURL: URL) {
        inner = Fields(certificateURL: certificateURL, licenseURL: licenseURL)
    }

    /// Sets the header fields. The token is in `nv-authorizations`.
    public func setHTTPHeader(parameters: [String: String]) { inner.fields.withLock { $0 = parameters } }

    public func scheme() -> String? { inner.scheme() }
    public func contentIdentifier(url: URL) -> Data? { inner.contentIdentifier(url: url) }
    public func certificate() -> Data? { inner.certificate() }
    public func ckcMessageWithID(spc: Data, assetID: String) -> Data? {
        inner.ckcMessageWithID(spc: spc, assetID: assetID)
    }
}

/// Requests licenses with header fields set from outside.
// Sound: the mutable state is behind a lock.
final class Fields: OTVCommonLicenseDelegate, @unchecked Sendable {
    let fields = Locked<[String: String]>([:])

    override func generateHTTPHeaders(assetID: String) -> [String: String]? { fields.withLock { $0 } }
}

/// Blocking HTTP, as in the SDK. Takes 30 s at most.
enum BlockingHTTP {
    /// - Returns: the body of a successful response; `nil` for anything else.
    static func send(_ method: String, _ url: URL, headers: [String: String] = [:], body: Data? = nil) -> Data? {
        let limit = 30.0
        var request = URLRequest(url: url, timeoutInterval: limit)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let received = Locked<Data?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        StandInNetwork.send(request, limit: 16 << 20) { result in
            if case .success(let reply) = result, (200..<300).contains(reply.status) {
                received.withLock { $0 = reply.body }
            }
            isDone.signal()
        }
        guard isDone.wait(timeout: .now() + limit) == .success else { return nil }
        return received.withLock { $0 }
    }
}
