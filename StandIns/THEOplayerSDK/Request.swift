public import Foundation

/// An HTTP request.
open class Request: NSObject, Codable {
    public var url: String
    public var method: String
    public var headers: [String: String]
    public var body: Data?

    public init(url: String, method: String, headers: [String: String], body: Data?) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

/// A request for a certificate.
public final class CertificateRequest: Request {}

/// A request for a license. Its body is the SPC.
public final class LicenseRequest: Request {
    private enum CodingKeys: String, CodingKey { case fairplaySkdUrl, useCredentials }

    /// The key's URI.
    public var fairplaySkdUrl: String?
    /// Whether cookies are sent. Integrations cannot read it, but it is encoded (inferred).
    let useCredentials: Bool

    public init(
        url: String, method: String, headers: [String: String], body: Data?, fairplaySkdUrl: String?,
        useCredentials: Bool
    ) {
        self.fairplaySkdUrl = fairplaySkdUrl
        self.useCredentials = useCredentials
        super.init(url: url, method: method, headers: headers, body: body)
    }

    /// The initializer that version 4 documents.
    public override init(url: String, method: String, headers: [String: String], body: Data?) {
        useCredentials = false
        super.init(url: url, method: method, headers: headers, body: body)
    }

    public required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        fairplaySkdUrl = try container.decodeIfPresent(String.self, forKey: .fairplaySkdUrl)
        useCredentials = try container.decodeIfPresent(Bool.self, forKey: .useCredentials) ?? false
        try super.init(from: decoder)
    }

    public override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(fairplaySkdUrl, forKey: .fairplaySkdUrl)
        try container.encode(useCredentials, forKey: .useCredentials)
    }
}
