import Foundation
import LatchkeyCore
package import LatchkeyHTTP

/// A request to one of a tenant's addresses, with what its surroundings say of the viewer.
package struct FaceCall: Sendable {
    package let request: HTTPRequest
    /// What log, reply and refusal call it.
    package let requestID: String
    /// Address, country and user agent.
    package let viewer: LicenseAsk

    package init(_ request: HTTPRequest, requestID: String, viewer: LicenseAsk) {
        self.request = request
        self.requestID = requestID
        self.viewer = viewer
    }

    /// The token of `Authorization: Bearer`; `nil` without.
    var bearerToken: String? {
        guard let field = request.headers[.authorization] else { return nil }
        let parts = field.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2, Substring(parts[0]).lowercased() == "bearer" else { return nil }
        var token = parts[1].drop(while: Self.isBlank)
        while let last = token.last, Self.isBlank(last) { token.removeLast() }
        return String(Substring(token))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}

/// What a face answers, and what became of the request.
package struct FaceAnswer: Sendable {
    package var response: HTTPResponse
    package let report: LicenseReport

    package init(_ response: HTTPResponse, _ report: LicenseReport) {
        self.response = response
        self.report = report
    }
}

extension HTTPHeaderName {
    /// What the key is for: `stream`, `download` or `renewStored`.
    static let purpose: HTTPHeaderName = "X-Latchkey-Purpose"
    /// The stop codes of sessions that the viewer gives up for this one, with commas between them.
    static let terminate: HTTPHeaderName = "X-Terminate"
    /// The seconds after which the player renews.
    static let renewAfter: HTTPHeaderName = "X-Latchkey-Renew-After"
    /// The token of heartbeats.
    static let heartbeatToken: HTTPHeaderName = "X-Latchkey-Heartbeat-Token"
    /// The seconds between heartbeats.
    static let heartbeat: HTTPHeaderName = "X-Latchkey-Heartbeat"
}

extension HTTPResponse {
    /// A reply in JSON that no cache keeps.
    static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .bytes(Data(value.canonicalText.utf8)))
    }

    /// States in header fields when the player comes back, and with what.
    mutating func tell(renewAfter: Duration?, heartbeatToken: String?, heartbeat: Duration?) {
        let seconds = { (duration: Duration) in "\(Int(saturating: duration.inSeconds.rounded(.down)))" }
        headers[.renewAfter] = renewAfter.map(seconds)
        headers[.heartbeatToken] = heartbeatToken
        headers[.heartbeat] = heartbeat.map(seconds)
    }

    /// A refusal in the form of the native faces.
    ///
    /// Source: `Documentation/LicenseServer.md` §6.4.
    package static func refusal(_ refusal: PolicyRefusal, requestID: String) -> HTTPResponse {
        var response = HTTPResponse(
            status: refusal.refusal.status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: .bytes(refusal.body(requestID: requestID)))
        response.headers[.retryAfter] = refusal.retryAfterSeconds.map(String.init)
        if case .method(let allowed) = refusal.refusal.kind { response.headers[.allow] = allowed }
        return response
    }
}
