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

/// A request for a license; the body is the SPC.
public final class LicenseRequest: Request {
    private enum CodingKeys: String, CodingKey { case fairplaySkdUrl }

    /// The key's URI.
    public var fairplaySkdUrl: String?

    public init(
        url: String, method: String, headers: [String: String], body: Data?, fairplaySkdUrl: String?,
        useCredentials: Bool
    ) {
        self.fairplaySkdUrl = fairplaySkdUrl
        super.init(url: url, method: method, headers: headers, body: body)
    }

    /// The initializer that version 4 documents.
    public override init(url: String, method: String, headers: [String: String], body: Data?) {
        super.init(url: url, method: method, headers: headers, body: body)
    }

    public required init(from decoder: any Decoder) throws {
        fairplaySkdUrl = try decoder.container(keyedBy: CodingKeys.self)
            .decodeIfPresent(String.self, forKey: .fairplaySkdUrl)
        try super.init(from: decoder)
    }

    public override func encode(to encoder: any Encoder) throws {
        try super.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(fairplaySkdUrl, forKey: .fairplaySkdUrl)
    }
}
