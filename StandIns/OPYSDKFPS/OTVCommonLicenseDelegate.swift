public import AVFoundation
import LatchkeyCore

/// Gets licenses over HTTP. Apps override what their service has otherwise.
// Sound: what changes is behind a lock.
open class OTVCommonLicenseDelegate: NSObject, OTVLicenseDelegate, @unchecked Sendable {
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
        guard let text = getCkcFromLicenseResponse(response: response) else { return response }
        let padded = text.padding(toLength: (text.utf8.count + 3) / 4 * 4, withPad: "=", startingAt: 0)
        return Data(base64Encoded: padded)
    }

    open func ckcMessageWith(
        spc: Data, assetID: String, session: AVContentKeySession, keyRequest: AVContentKeyRequest
    ) -> Data? { ckcMessageWithID(spc: spc, assetID: assetID) }

    /// The header fields of the license request; nil where none is to be sent.
    open func generateHTTPHeaders(assetID: String) -> [String: String]? { [:] }

    /// The address of the license request.
    open func getLicenseRequestUrl() -> URL { licenseURL }

    /// The CKC in base64, padded or not; nil where the response is the CKC itself.
    open func getCkcFromLicenseResponse(response: Data) -> String? {
        let object = try? JSONSerialization.jsonObject(with: response) as? [String: Any]
        return object?["CkcMessage"] as? String
    }
}

/// Gets licenses over HTTP with fixed header fields.
// Sound: what changes is behind a lock.
open class OTVDefaultLicenseDelegate: NSObject, OTVLicenseDelegate, @unchecked Sendable {
    private let inner: Fields

    public init(certificateURL: URL, licenseURL: URL) {
        inner = Fields(certificateURL: certificateURL, licenseURL: licenseURL)
    }

    /// Sets the header fields; the token stands under `nv-authorizations`.
    public func setHTTPHeader(parameters: [String: String]) { inner.fields.withLock { $0 = parameters } }

    public func scheme() -> String? { inner.scheme() }
    public func contentIdentifier(url: URL) -> Data? { inner.contentIdentifier(url: url) }
    public func certificate() -> Data? { inner.certificate() }
    public func ckcMessageWithID(spc: Data, assetID: String) -> Data? {
        inner.ckcMessageWithID(spc: spc, assetID: assetID)
    }
}

/// Gets licenses with fields that are set from outside.
final class Fields: OTVCommonLicenseDelegate, @unchecked Sendable {
    let fields = Locked<[String: String]>([:])

    override func generateHTTPHeaders(assetID: String) -> [String: String]? { fields.withLock { $0 } }
}

/// HTTP that blocks its thread, as the SDK's does.
enum BlockingHTTP {
    /// - Returns: the body of a success; nil for anything else.
    static func send(_ method: String, _ url: URL, headers: [String: String] = [:], body: Data? = nil) -> Data? {
        var request = URLRequest(url: url, timeoutInterval: 30)
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let received = Locked<Data?>(nil)
        let isDone = DispatchSemaphore(value: 0)
        let task = URLSession.shared.dataTask(with: request) { data, response, _ in
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            if (200..<300).contains(status) { received.withLock { $0 = data } }
            isDone.signal()
        }
        task.resume()
        isDone.wait()
        return received.withLock { $0 }
    }
}
