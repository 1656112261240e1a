import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
package import LatchkeyVendorWire

/// A service of no vendor with the four usual dialects, each answered in kind.
///
/// `/raw`, `/base64`, `/form` and `/json` have one each; `/license` tells it by the `Content-Type`.
///
/// Source: `Documentation/Vendors/Generic.md`.
package struct GenericService: VendorService {
    package let identifier: ServiceIdentifier = "generic"
    package let environment: ServiceEnvironment
    /// How the CKC that answers a form is written. Defaults to base64.
    package var formReply = CKCEnvelope.base64
    /// The value of the header `Authorization`, with or without `Bearer `. Defaults to `nil`: none is needed.
    package var token: Secret?

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var routes: [ServiceRoute] {
        let dialects: [(PathPattern, Dialect?)] = [
            ("/license", nil), ("/raw", .raw), ("/base64", .base64), ("/form", .form), ("/json", .json),
        ]
        return [.certificate("/certificate")]
            + dialects.map { path, dialect -> ServiceRoute in
                .license(path) { call async throws(LicenseRefusal) in try await license(call, in: dialect) }
            }
    }

    package func demoToken() -> Secret { token ?? Secret("latchkey-demo-token") }
}

extension GenericService {
    private enum Dialect { case raw, base64, form, json }

    private func license(_ call: ServiceCall, in dialect: Dialect?) async throws(LicenseRefusal) -> HTTPResponse {
        try checkToken(call)
        let dialect = if let dialect { dialect } else { try Self.dialect(of: call) }
        let (spc, asset) = try Self.message(in: dialect, call)
        let key = asset.map { environment.key(named: $0) } ?? .namedInSPC
        let ckc = try await call.ckc(for: LicenseQuestion(spc: spc, key: key))
        return switch dialect {
        case .raw: .ckc(ckc, in: .raw)
        case .base64: .ckc(ckc, in: .base64)
        case .form: .ckc(ckc, in: formReply)
        case .json: .ckc(ckc, in: .json)
        }
    }

    private func checkToken(_ call: ServiceCall) throws(LicenseRefusal) {
        guard let token else { return }
        let sent = try call.token(inHeader: .authorization)
        let bare = sent.lowercased().hasPrefix("bearer ") ? String(sent.dropFirst(7)) : sent
        guard Secret(bare) == token else { throw .notCovered("The token is not the configured one.") }
    }

    private static func dialect(of call: ServiceCall) throws(LicenseRefusal) -> Dialect {
        switch call.request.headers.mediaType {
        // A raw SPC begins with the byte 0 of its version; a letter there means text with the same type.
        case "application/octet-stream", nil: (call.request.body.first ?? 0) < 0x20 ? .raw : .base64
        case "text/plain": .base64
        case "application/x-www-form-urlencoded": .form
        case "application/json": .json
        case let type: throw .mediaType(type)
        }
    }

    private static func message(
        in dialect: Dialect, _ call: ServiceCall
    ) throws(LicenseRefusal) -> (spc: Data, asset: String?) {
        switch dialect {
        case .raw: return (try call.rawSPC(), nil)
        case .base64:
            return (try call.base64(String(decoding: call.request.body, as: UTF8.self), in: "body"), nil)
        case .form:
            let form = try call.form()
            return (try call.spc(in: form), form["assetId"])
        case .json:
            let body = try call.json()
            return (try call.spc(in: body), body["assetId"]?.text)
        }
    }
}
