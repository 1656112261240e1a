import Foundation
import LatchkeyCore
import LatchkeyTesting

@testable import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A token of VuDRM's form, from the vendor's documentation.
let vuDRMToken =
    "demo-client|2024-01-02T03:04:05Z|AAAAAAAAAAAAAAAAAAAAAA==|0000000000000000000000000000000000000000"

extension URLRequest {
    /// The request as text: method and URL, header fields in alphabetical order, a blank line, the body.
    ///
    /// Names of header fields in lower case: Foundation on Linux writes them with capitals, and no server may care.
    var wire: String {
        let headers = (allHTTPHeaderFields ?? [:]).map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        let body = httpBody.map { String(data: $0, encoding: .utf8) ?? $0.hexString } ?? ""
        return (["\(httpMethod ?? "-") \(url?.absoluteString ?? "-")"] + headers + ["", body]).joined(separator: "\n")
    }
}

extension VendorProfile {
    /// The certificate request of a test.
    func certificateWire(token: String = "TOKEN") async throws -> String? {
        try await certificateRequest(CertificateContext { .token(token) })?.wire
    }

    /// The license request of a test for the sample SPC.
    func licenseWire(_ key: KeyURI, token: String = "TOKEN") async throws -> String {
        try await licenseRequest(for: SPCMessage(SampleBytes.spc), context(key, token: token)).wire
    }

    func context(_ key: KeyURI, token: String = "TOKEN") throws -> LicenseContext {
        LicenseContext(keyURI: key, contentIdentifier: try contentIdentifier(for: key)) { .token(token) }
    }

    /// Reads a license reply of a test.
    func license(_ body: Data, status: Int = 200, _ headers: [(name: String, value: String)] = []) throws -> License {
        try license(from: exchange(body, status, headers), LicenseContext(keyURI: "skd://k/v", contentIdentifier: "id"))
    }

    /// Reads a certificate reply of a test.
    func certificate(_ body: Data, status: Int = 200) throws -> ApplicationCertificate {
        try certificate(from: exchange(body, status, []))
    }

    private func exchange(_ body: Data, _ status: Int, _ headers: [(name: String, value: String)]) -> HTTPExchange {
        HTTPExchange(
            request: URLRequest(url: URL(filePath: "/")), reply: HTTPReply(status: status, headers: headers, body: body)
        )
    }
}
