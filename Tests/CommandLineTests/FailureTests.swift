import Foundation
import Latchkey
import LatchkeySystem
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite struct FailureTests {
    private let refused = ContentKeyError(
        .init(rawValue: "forbidden"), stage: .license, "The service refused.", remedy: "Ask the vendor.",
        isRetryable: true,
        service: ServiceReply(status: 403, code: "7", message: "no such viewer", requestID: "r-1", retryAfter: 3))

    private func json(_ error: any Error) throws -> [String: Any] {
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Failure(error)))
        return try #require(json as? [String: Any])
    }

    @Test func `a key request's error gives its place and the service's words`() throws {
        let json = try json(refused)
        #expect(json["code"] as? String == "forbidden")
        #expect(json["stage"] as? String == "license")
        #expect(json["retryable"] as? Bool == true)
        #expect(json["attempts"] as? Int == 1)
        #expect(json["status"] as? Int == 403)
        #expect(json["vendorCode"] as? String == "7")
        #expect(json["requestID"] as? String == "r-1")
        #expect(json["vendorMessage"] as? String == "no such viewer")
    }

    @Test func `missing members are left out`() throws {
        let early = try json(ContentKeyError(.spcFailed, "The player made no SPC.", remedy: "Check the certificate."))
        #expect(early.keys.sorted() == ["attempts", "code", "reason", "remedy", "retryable"])
        let bare = try json(
            ContentKeyError(.cancelled, stage: .license, "No.", remedy: "Stop.", service: ServiceReply(status: 500)))
        #expect(bare["status"] as? Int == 500)
        #expect(bare["vendorCode"] == nil)
        let file = try json(FileError.exists("a"))
        #expect(file.keys.sorted() == ["code", "reason", "remedy"])
    }

    @Test func `the text form stays one line`() {
        #expect(Failure(refused).text == "The service refused. Ask the vendor. (forbidden)")
    }
}
