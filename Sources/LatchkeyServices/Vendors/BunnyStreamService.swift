import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyFairPlay
package import LatchkeyHTTP
package import LatchkeyVendorWire

/// Bunny Stream, with embed view tokens if the library asks for them.
///
/// Source: docs.bunny.net/stream/players/fairplay and docs.bunny.net/docs/stream-embed-token-authentication, read on
/// 22 November 2026.
package struct BunnyStreamService: VendorAPIService {
    package let environment: ServiceEnvironment
    /// The library's token security key. Defaults to `nil`: no tokens are needed.
    package var tokenSecurityKey: Secret?
    package var api = BunnyStreamAPI()

    /// The video of the demonstration: the first key.
    private var video: String { environment.keys.keys.first?.id.description ?? "latchkey" }

    /// - Parameter environment: the service's dependencies.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(queryItems: ["token"]) }

    package func parameters(at base: String) -> [String: String] {
        let library = api.library ?? "759"
        return [
            "certificateURL": "\(base)/FairPlay/\(library)/certificate",
            "licenseURL": "\(base)/FairPlay/\(library)/license/", "libraryId": library, "videoId": video,
        ]
    }

    /// A token for a video, as the customer's server makes it: the SHA-256 of security key, video and end in hexadecimal digits.
    /// - Parameter end: seconds since 1970.
    package func token(video: String, end: Int) -> Secret {
        let key = Array(tokenSecurityKey?.revealed ?? Data())
        let digest = (try? MessageDigest.sha256(key + Array("\(video)\(end)".utf8))) ?? []
        return Secret(digest.hexString)
    }

    package func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try checkToken(call)
        return try api.certificate(try call.certificate(), for: call)
    }

    package func grant(
        _ token: String?, _ question: LicenseQuestion, _ call: ServiceCall
    ) throws(LicenseRefusal) -> VendorGrant {
        try checkToken(call)
        return question.grant
    }

    /// Refuses with 403 in all cases, as on the page about tokens.
    private func checkToken(_ call: ServiceCall) throws(LicenseRefusal) {
        let text = call.request.queryValue("expires")
        if let text, let flaw = flaw(inEnd: text) { try call.breach(of: BunnyStreamAPI.expires, flaw) }
        guard tokenSecurityKey != nil else { return }
        guard let sent = call.request.queryValue("token"), let end = text.flatMap({ Int($0) }) else {
            throw .notCovered("The query has no “token” or no “expires”.")
        }
        guard Secret(sent.lowercased()) == token(video: api.video(call) ?? video, end: end) else {
            throw .notCovered("The token does not match the video and its end.")
        }
    }

    /// The flaw of `expires`, which counts even where the library asks for no token; `nil` for none.
    private func flaw(inEnd text: String) -> String? {
        let now = environment.time.date.timeIntervalSince1970
        guard let end = Int(text).map({ Double($0) }) else { return "“expires” is not a number of seconds." }
        // The same moment in milliseconds is a thousand times the number.
        if end > now * 100 { return "“expires” is not in seconds since 1970." }
        return end > now ? nil : "“expires” was \(Int(saturating: now - end)) s ago."
    }
}
