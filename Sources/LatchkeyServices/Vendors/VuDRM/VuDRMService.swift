package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyHTTP
package import LatchkeyMedia
package import LatchkeyVendorWire

/// Vualto's VuDRM: certificate, and licenses in the JSON and in the raw dialect.
///
/// Source: `Documentation/Vendors/VuDRM.md`.
package struct VuDRMService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The one customer whose certificate the service has. Defaults to `nil`: any.
    package var client: String?
    /// The shortest time from a license to its renewal without a warning. The vendor's own SDK refuses to renew below 300 seconds.
    /// Defaults to `nil`: any.
    package var shortestRenewal: Duration?
    private let renewals = RenewalTimes()

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var api: VuDRMAPI {
        var api = VuDRMAPI()
        api.tokensAreSingleUse = true
        api.tokenLifetime = environment.tokenLifetime ?? .seconds(30)
        return api
    }

    package var routes: [ServiceRoute] {
        [
            // `/certificate/fairplay` is Cloud DRM's.
            .certificate("/certificate/\(client ?? "{client}")", certificate).when { $0["client"] != "fairplay" },
            .license("/license", license), .license("/license/{content}", license),
            .license("/v2/license/{content}", license),
        ]
    }

    package func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/license/\(contentID(of: key))"
    }

    package func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/certificate/\(demoClient)"]
    }

    package func demoToken() -> Secret { token() }

    /// The customer of the demonstration.
    private var demoClient: String { client ?? "demo-client" }

    /// A token with a policy that the emulator can read.
    /// - Parameters:
    ///   - policy: fields such as `type`, `duration_lease`, `match_content_id`. Defaults to none, which leaves the terms to the server.
    ///   - generated: the generation time. Defaults to now.
    package func token(policy: [String: String] = [:], generated: Date? = nil) -> Secret {
        let time = (generated ?? environment.time.date).formatted(.iso8601)
        // Without a policy, the token carries opaque bytes as the vendor's do.
        let json = policy.isEmpty ? Data(count: 16) : (try? JSONEncoder().encode(policy)) ?? Data()
        // All tokens differ, because each may be valid for one license only.
        let hash = Data((0..<20).map { _ in UInt8.random(in: .min ... .max) }).hexString
        return Secret("\(demoClient)|\(time)|\(json.base64EncodedString())|\(hash)")
    }
}

extension VuDRMService {
    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        // The vendor's samples send no token; a token that is sent is checked.
        if let token = call.request.headers[VuDRMForm.tokenField] { _ = try api.token(token, call) }
        return try api.certificate(try call.certificate(), for: call)
    }

    package func reply(_ license: IssuedLicense, to call: ServiceCall) -> HTTPResponse {
        if let limit = shortestRenewal,
            let time = renewals.timeSinceLast(license, at: environment.time.uptime), time < limit
        {
            call.warn("renewal", "a key is renewed \(Int(saturating: time.inSeconds)) s after its license")
        }
        return api.reply(call.ckc(of: license), on: license.terms, to: call)
    }

    /// The last path component of the key's own URI if the alphabet allows it and no other key has it, otherwise the key's identifier.
    private func contentID(of key: StoredKey) -> String {
        let name = key.lastPathComponent
        guard VuDRMForm.isValid(name), case .one(let found) = environment.keys.key(named: name),
            found.id == key.id
        else { return key.id.bytes.hexString }
        return name
    }
}
