import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import Latchkey

/// A service's own words, on their way to the app.
@Suite(.timeLimit(.minutes(5))) struct ServiceWordsTests {
    /// Source: `Documentation/Vendors/README.md` §23.7.
    @Test func `a refusal's words and request id reach the app in error and event`() async throws {
        let body = Data(#"{"error":"The title was\u0007 withdrawn."}"#.utf8)
        let reply = HTTPReply(status: 400, headers: [("x-request-id", "r-17")], body: body)
        let harness = Harness(VendorProfile.raw.unchecked, post: [.reply(reply)])
        let events = harness.loader.events()
        let error = await harness.answer().error
        #expect(error?.service == ServiceReply(status: 400, message: "The title was withdrawn.", requestID: "r-17"))
        #expect(error?.reason == "The service answered 400, \"The title was withdrawn.\" (request r-17).")
        var failed: ContentKeyError?
        for event in await events.untilAnswered() {
            if case .failed(let error, _) = event.kind { failed = error }
        }
        #expect(failed?.service?.message == "The title was withdrawn.")
    }

    /// Source: `Documentation/Vendors/README.md` §0.
    @Test(arguments: [true, false])
    func `a license in an unusual form has its own event`(isUnusual: Bool) async {
        var profile = VendorProfile.raw
        profile.decoder = .preferring(.raw)
        let ckc = SampleBytes.ckc()
        let harness = Harness(profile.unchecked, post: [isUnusual ? .ok(ckc.base64EncodedString()) : .ok(ckc)])
        let events = harness.loader.events()
        #expect(await harness.answer().ckc == ckc)
        let warnings = await events.untilAnswered().compactMap { event -> String? in
            if case .replyWarning(let warning) = event.kind { warning.code } else { nil }
        }
        #expect(warnings == (isUnusual ? ["unusualForm"] : []))
    }
}
