import Foundation
import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyVendorWire

/// A request to one of a tenant's addresses, with the viewer's facts that its connection and headers reveal.
package final class APICall: Sendable {
    package let request: HTTPRequest
    /// Its name in log, reply and refusal.
    package let requestID: String
    /// Address, country and user agent.
    package let viewer: LicenseRequestFacts

    package init(_ request: HTTPRequest, requestID: String, viewer: LicenseRequestFacts) {
        self.request = request
        self.requestID = requestID
        self.viewer = viewer
    }

    /// - Throws: `mediaType` for a body that is compressed, by its header field or its first bytes.
    func checkCoding() throws(LicenseRefusal) {
        let stated = request.headers[.contentEncoding].flatMap { $0.lowercased() == "identity" ? nil : $0 }
        guard let coding = stated ?? (request.body.starts(with: [0x1f, 0x8b, 8]) ? "gzip" : nil) else { return }
        throw LicenseRefusal(
            .mediaType, reason: "The body is compressed (\(coding.prefix(20))).",
            remedy: "Send the body uncompressed, without Content-Encoding.")
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

/// An API's reply, and the outcome of the request.
package final class APIAnswer: Sendable {
    package let response: HTTPResponse
    package let report: LicenseReport
    /// To give back if the reply cannot be sent; `nil` without a license.
    package let taken: TakenRoom?

    // Never inlined, so that no copy of the report is in the frame of a task.
    @inline(never) package init(_ response: HTTPResponse, _ report: LicenseReport, taken: TakenRoom? = nil) {
        self.response = response
        self.report = report
        self.taken = taken
    }
}

extension HTTPResponse {
    /// States in header fields when the player should come back, and with which token.
    mutating func tell(renewAfter: Duration?, heartbeatToken: String?, heartbeat: Duration?) {
        let seconds = { (duration: Duration) in "\(Int(saturating: duration.inSeconds.rounded(.down)))" }
        headers[.renewAfter] = renewAfter.map(seconds)
        headers[.heartbeatToken] = heartbeatToken
        headers[.heartbeat] = heartbeat.map(seconds)
    }
}
