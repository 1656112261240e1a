import Foundation
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@testable import LatchkeyLicensing

@Suite struct ReadinessTests {
    private let clock = ManualTimekeeper()

    @Test func `the node is ready only if every check passes`() {
        let readiness = Readiness([.init("keys") { nil }, .init("credentials") { "no\npair" }])
        let short = readiness.response(to: HTTPRequest(method: .get, target: "/readyz"))
        #expect(short.status == 503)
        #expect(short.bytes == Data("not ready\n".utf8))
        let verbose = readiness.response(to: HTTPRequest(method: .get, target: "/readyz?verbose"))
        #expect(verbose.status == 503)
        #expect(verbose.headers[.contentType] == "application/json")
        let text = String(decoding: verbose.bytes ?? Data(), as: UTF8.self)
        #expect(
            text
                == #"{"checks":[{"name":"keys","status":"passed"},"#
                + #"{"name":"credentials","reason":"no\\u{a}pair","status":"failed"}],"status":"unready"}"#
                + "\n")
        #expect(Readiness([]).response(to: HTTPRequest(method: .get, target: "/readyz")).status == 200)
        #expect(Readiness.alive.status == 200)
    }

    @Test func `a pool may be full for a while, but not all the time`() {
        let pool = Saturation(timekeeper: clock)
        let readiness = Readiness([pool.check("pool")])
        pool.note(isFull: true)
        clock.advance(by: .seconds(29))
        pool.note(isFull: true)
        #expect(readiness.report.isReady)
        clock.advance(by: .seconds(1))
        #expect(!readiness.report.isReady)
        pool.note(isFull: false)
        pool.note(isFull: true)
        #expect(readiness.report.isReady)
    }
}
