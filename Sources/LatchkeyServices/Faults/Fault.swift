import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP

/// A way in which a service can misbehave.
///
/// Source: `Documentation/Vendors/README.md` §23.
public enum Fault: Sendable, Hashable {
    /// A bare error status.
    case status(Int)
    /// The right answer after a delay.
    case delay(Duration)
    /// No answer: the connection is reset.
    case connectionReset
    /// Status 200 without a body.
    case emptyBody
    /// Status 200 with a web page that reports an error.
    case htmlPage
    /// The first half of the certificate or CKC, in the right envelope.
    case truncatedPayload
    /// Random bytes of the right length, in the right envelope.
    case garbagePayload
    /// The right answer as `text/html`.
    case wrongContentType
    /// Status 503 with `Retry-After`.
    case unavailable(retryAfter: Duration)
    /// A refusal with a vendor's code, such as `MDRM-1015`, in the form of the vendor's error replies. Without a status, it has the code's
    /// documented one: `VendorService.documentedRefusals`.
    case refusal(code: String, status: Int? = nil)

    /// The reply in place of the service's own; `nil` if the service answers.
    var replacement: HTTPResponse? {
        switch self {
        case .status(let status): .text("The service is set to fail.", status: status)
        case .connectionReset: .reset
        case .emptyBody: HTTPResponse(status: 200, headers: [.contentType: "application/octet-stream"])
        case .htmlPage:
            HTTPResponse(status: 200, contentType: "text/html; charset=utf-8", bytes: Data(Self.page.utf8))
        case .unavailable(let delay):
            HTTPResponse(
                status: 503,
                headers: [.contentType: "text/plain; charset=utf-8", .retryAfter: "\(delay.components.seconds)"],
                body: .bytes(Data("The service is temporarily down.".utf8)))
        case .delay, .truncatedPayload, .garbagePayload, .wrongContentType, .refusal: nil
        }
    }

    /// The refusal in place of the service's own answer, or `nil`.
    func refusal(by service: some VendorService, at endpoint: ServiceEndpoint) -> LicenseRefusal? {
        guard case .refusal(let code, let stated) = self else { return nil }
        let status = stated ?? service.documentedStatus(of: code, at: endpoint)
        return LicenseRefusal(
            .vendor(code: code, status: status), reason: "The service is set to refuse.",
            remedy: "Clear the service's fault.")
    }

    /// Returns a certificate or CKC as damaged by the fault.
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
