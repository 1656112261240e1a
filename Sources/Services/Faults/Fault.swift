import Foundation
import LatchkeyCore
import LatchkeyHTTP

/// A way in which a service can misbehave.
///
/// Source: `vendors.md` §23, emulator counterpart.
public enum Fault: Sendable, Hashable {
    /// A bare error status.
    case status(Int)
    /// The right answer, late.
    case delay(Duration)
    /// No answer: the connection is reset.
    case connectionReset
    /// Status 200 without a body.
    case emptyBody
    /// Status 200 with a web page that reports an error.
    case htmlPage
    /// The first half of the certificate or CKC, in the right envelope.
    case truncatedPayload
    /// Bytes of the right length that are no certificate and no CKC, in the right envelope.
    case garbagePayload
    /// The right answer as `text/html`.
    case wrongContentType
    /// Status 503 that names a time to come back.
    case unavailable(retryAfter: Duration)
    /// A refusal with a code of the vendor's own, such as `MDRM-1015`, in the form of the vendor's error replies.
    case refusal(code: String, status: Int)

    /// The reply that stands in for the service's own; nil where the service answers.
    var replacement: HTTPResponse? {
        switch self {
        case .status(let status): .text("The service was told to fail.", status: status)
        case .connectionReset: .reset
        case .emptyBody: HTTPResponse(status: 200, headers: ["Content-Type": "application/octet-stream"])
        case .htmlPage:
            HTTPResponse(status: 200, contentType: "text/html; charset=utf-8", bytes: Data(Self.page.utf8))
        case .unavailable(let delay):
            HTTPResponse(
                status: 503,
                headers: ["Content-Type": "text/plain; charset=utf-8", "Retry-After": "\(delay.components.seconds)"],
                body: .bytes(Data("The service is down for a moment.".utf8)))
        case .delay, .truncatedPayload, .garbagePayload, .wrongContentType, .refusal: nil
        }
    }

    /// What is left of a certificate or CKC.
    func damaged(_ payload: Data) -> Data {
        switch self {
        case .truncatedPayload:
            return payload.prefix(payload.count / 2)
        case .garbagePayload:
            var generator = SeededGenerator(seed: UInt64(payload.count))
            return Data(generator.bytes(payload.count))
        default:
            return payload
        }
    }

    private static let page = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"
}
