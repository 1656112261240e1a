import Foundation
import Latchkey
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// The text that an app writes to its log for support. No secret is in it.
private func report(_ error: ContentKeyError) -> String {
    var lines = ["\(error.code) at \(error.stage?.rawValue ?? "no stage")", error.reason, error.remedy]
    if let service = error.service {
        lines.append(
            "status \(service.status), code \(service.code ?? "–"), request \(service.requestID ?? "–"), "
                + (service.message ?? "no words"))
    }
    return lines.joined(separator: "\n")
}

/// The code of the article "Diagnose a refusal", compiled and run.
@Suite(.timeLimit(.minutes(5))) struct DiagnoseARefusalTests {
    @Test func `a support report has the stage, the service's words and the request id`() async throws {
        let refusal = HTTPReply(
            status: 403, headers: [("x-request-id", "r-42")], body: Data(#"{"message":"policy ended"}"#.utf8))
        let error = try #require(await Harness(VendorProfile.json.unchecked, post: [.reply(refusal)]).answer().error)
        let text = report(error)
        #expect(text.hasPrefix("forbidden at license\n"))
        #expect(text.contains("status 403, code –, request r-42, policy ended"))
        #expect(!text.contains(token))
    }
}
