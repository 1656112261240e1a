import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Kaltura's uDRM: license requests in base64, answered as JSON that tells how long the key may be stored.
///
/// Source: `vendors.md` §19.
public struct KalturaService: VendorService {
    public let identifier: ServiceIdentifier = "kaltura"
    public let environment: ServiceEnvironment

    /// - Parameter environment: what the service stands on.
    public init(_ environment: ServiceEnvironment) { self.environment = environment }

    public var redaction: Redaction { Redaction(queryItems: ["custom_data", "signature"]) }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // Apps bundle the certificate, and the license URL comes with the media; the vendor publishes no paths.
        case "/fps/certificate": .certificate
        case "/fps/license": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try call.certificateFile() : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        [
            "certificateURL": "\(base)/fps/certificate", "certificate": environment.inlineCertificate,
            "licenseURL": "\(base)/fps/license",
        ]
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let spc = try call.base64(String(decoding: try call.rawSPC(), as: UTF8.self), in: "body")
        let keys = environment.authority.keys
        let question = LicenseQuestion(spc: spc, keyName: nil) { keys.name(in: $0) }
        let license = try await call.license(for: question)
        return .json([
            "ckc": .text(call.ckc(of: license).base64EncodedString()),
            "persistence_duration": .number(Self.persistence(license.terms)),
        ])
    }

    /// Seconds for which the key may be stored: 0 where it may not, the largest 32-bit number where there is no limit.
    private static func persistence(_ terms: LicenseTerms) -> Double {
        switch terms.validity {
        case .persistent: Double(UInt32.max)
        case .persistentFor(let duration): duration.inSeconds
        case .dualExpiry(let storage, _): storage.inSeconds
        case .unlimited, .lease, .rental, .leaseAndRental: 0
        }
    }
}
