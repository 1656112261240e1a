import Foundation
import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Anvato: licenses as JSON, and errors with a DRM code in their message.
///
/// Source: `vendors.md` §19.
public struct AnvatoService: VendorService {
    public let identifier: ServiceIdentifier = "anvato"
    public let environment: ServiceEnvironment

    /// - Parameter environment: what the service stands on.
    public init(_ environment: ServiceEnvironment) { self.environment = environment }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path {
        // The vendor publishes no paths.
        case "/rest/fairplay/certificate": .certificate
        case "/rest/fairplay/license": .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        guard call.endpoint == .license else { return try call.certificateFile() }
        try call.require("POST")
        let body = try call.json()
        let spc = try call.spc(in: body)
        let asset = try body.required("assetid")
        let keys = environment.authority.keys
        let question = LicenseQuestion(spc: spc, keyName: keys.name(in: ContentIdentifier(asset))) {
            keys.name(in: $0)
        }
        return .ckc(try await call.ckc(for: question), in: .json)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String { "skd://\(key.id)" }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/rest/fairplay/certificate", "licenseURL": "\(base)/rest/fairplay/license"]
    }

    public func reply(to refusal: LicenseRefusal, of call: ServiceCall) -> HTTPResponse {
        // Of the DRM codes none is public; a fault may name one, all others repeat the status.
        var drmCode = "\(refusal.status)"
        if case .vendor(let code, _) = refusal.kind { drmCode = code }
        let error: [String: JSONValue] = [
            "code": .number(Double(refusal.status)), "status": .text(Self.name(of: refusal.status)),
            "message": .text("\(refusal.reason) drmErrorCode: \(drmCode) "),
        ]
        return .json(["error": .object(error)], status: refusal.status)
    }

    /// The names that Google's services, of which the shape is, give to statuses.
    private static func name(of status: Int) -> String {
        switch status {
        case 401: "UNAUTHENTICATED"
        case 403: "PERMISSION_DENIED"
        case 404: "NOT_FOUND"
        case 500...: "UNAVAILABLE"
        default: "INVALID_ARGUMENT"
        }
    }
}
