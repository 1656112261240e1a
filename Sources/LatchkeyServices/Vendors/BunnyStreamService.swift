import Foundation
package import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyVendorWire

/// Bunny Stream with MediaCage Enterprise DRM: JSON both ways, library and video in the URL, embed view tokens if the library asks for
/// them.
///
/// Source: docs.bunny.net/stream/players/fairplay and docs.bunny.net/docs/stream-embed-token-authentication, read on
/// 22 November 2026.
package struct BunnyStreamService: VendorService {
    package let identifier: ServiceIdentifier = "bunny-stream"
    package let environment: ServiceEnvironment
    /// The library in the paths. Defaults to `nil`: any.
    package var library: String?
    /// The library's token security key. Defaults to `nil`: no tokens are needed.
    package var tokenSecurityKey: Secret?

    /// The video of the demonstration: the first key.
    private var video: String { environment.keys.keys.first?.id.description ?? "latchkey" }

    /// - Parameter environment: what the service needs.
    package init(_ environment: ServiceEnvironment) { self.environment = environment }

    package var redaction: Redaction { Redaction(queryItems: ["token"]) }

    package var routes: [ServiceRoute] {
        let library = library ?? "{library}"
        return [
            .certificate("/FairPlay/\(library)/certificate", certificate),
            .license("/FairPlay/\(library)/license") { call async throws(LicenseRefusal) in
                try await license(call, video: call.request.queryValue("videoId"))
            },
            // The address on the page about tokens.
            .license("/FairPlayLicense/\(library)/{video}") { call async throws(LicenseRefusal) in
                try await license(call, video: call.path["video"])
            },
        ]
    }

    package func parameters(at base: String) -> [String: String] {
        let library = library ?? "759"
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
}

extension BunnyStreamService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try checkToken(call, video: call.request.queryValue("videoId") ?? video)
        return try call.certificateFile()
    }

    private func license(_ call: ServiceCall, video: String?) async throws(LicenseRefusal) -> HTTPResponse {
        guard let video, !video.isEmpty else { throw .malformed("The query has no “videoId”.") }
        try checkToken(call, video: video)
        let question = LicenseQuestion(spc: try call.spc(in: try call.json()), key: .namedInSPC)
        return .ckc(try await call.ckc(for: question), in: .json)
    }

    /// Refuses with 403 in all cases, as on the page about tokens.
    private func checkToken(_ call: ServiceCall, video: String) throws(LicenseRefusal) {
        guard tokenSecurityKey != nil else { return }
        guard let sent = call.request.queryValue("token"), let text = call.request.queryValue("expires") else {
            throw .notCovered("The query has no “token” or no “expires”.")
        }
        guard let end = Int(text), end > 0 else { throw .notCovered("“expires” is no number of seconds.") }
        guard Secret(sent.lowercased()) == token(video: video, end: end) else {
            throw .notCovered("The token is not that of the video and its end.")
        }
        guard environment.time.date.timeIntervalSince1970 < Double(end) else {
            throw .notCovered("The token's time is over.")
        }
    }
}
