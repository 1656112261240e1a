public import Foundation

/// An HTTP response, whatever its status.
open class Response: NSObject, Codable {
    public var request: Request
    public var url: String
    public var status: Int
    public var statusText: String
    public var headers: [String: String]
    public var body: Data

    init(
        request: Request, url: String, status: Int, statusText: String, headers: [String: String], body: Data
    ) {
        self.request = request
        self.url = url
        self.status = status
        self.statusText = statusText
        self.headers = headers
        self.body = body
    }
}

/// The response to a request for a certificate.
public final class CertificateResponse: Response {
    public init(
        certificateRequest: CertificateRequest, url: String, status: Int, statusText: String,
        headers: [String: String], body: Data
    ) {
        super.init(
            request: certificateRequest, url: url, status: status, statusText: statusText, headers: headers,
            body: body)
    }

    public required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
}

/// The response to a request for a license.
public final class LicenseResponse: Response {
    public init(
        licenseRequest: LicenseRequest, url: String, status: Int, statusText: String, headers: [String: String],
        body: Data
    ) {
        super.init(
            request: licenseRequest, url: url, status: status, statusText: statusText, headers: headers, body: body)
    }

    public required init(from decoder: any Decoder) throws { try super.init(from: decoder) }
}
