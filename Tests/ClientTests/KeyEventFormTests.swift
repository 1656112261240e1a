import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import Latchkey

/// Events as lines of a log, as JSON, and as counts.
@Suite(.timeLimit(.minutes(5))) struct KeyEventFormTests {
    private static let date = Date(timeIntervalSince1970: 1_767_225_600.25)
    private static let http = KeyEvent.HTTPSummary(
        stage: .license, method: "POST", url: "https://license.example.com/l", status: 200, milliseconds: 143.21)
    private static let error = ContentKeyError(
        .forbidden, stage: .license, "The service answered 403.", remedy: "Ask the vendor.",
        service: ServiceReply(status: 403))
    private static let advice: [TokenInspection.Advice] = [
        .malformed("no dot"), .expired(date), .notYetValid(date), .keyNotCovered, .noOfflineRight, .needsSession,
        .mayHaveExpired(generated: date), .unsuitable("for Widevine"),
    ]

    private static func event(_ kind: KeyEvent.Kind) -> KeyEvent {
        KeyEvent(exchange: 3, key: "skd://host/movie", date: date, kind: kind)
    }

    /// Each event with its line, and its name in JSON.
    static let all: [(KeyEvent.Kind, String, String)] = [
        (.requested(.streaming), "key requested (streaming)", "requested"),
        (.stageEnded(.license, took: .milliseconds(143)), "license took 143 ms", "stageEnded"),
        (
            .certificateFromCache(saved: .milliseconds(40)), "certificate at hand, which saved 40 ms",
            "certificateFromCache"
        ),
        (.prepared(.credentials, saved: .seconds(2)), "credentials at hand, which saved 2 s", "prepared"),
        (.preloaded([.certificate, .license]), "preloaded certificate, license", "preloaded"),
        (.tokenAdvice(advice), advice.map(\.description).joined(separator: " "), "tokenAdvice"),
        (
            .certificateUnrecognized(format: "other data (9 bytes)"),
            "the certificate is other data (9 bytes), and is passed on as it is", "certificateUnrecognized"
        ),
        (.replyWarning(ReplyWarning(code: "unusualForm", text: "It is base64.")), "It is base64.", "replyWarning"),
        (.exchanged(http), "POST https://license.example.com/l gave 200 in 143.2 ms", "exchanged"),
        (
            .unanswered(http, code: "timedOut"),
            "POST https://license.example.com/l got no reply in 143.2 ms: timedOut",
            "unanswered"
        ),
        (
            .redirected(to: "https://b.example", credentialsDropped: true),
            "redirected to https://b.example, without credentials", "redirected"
        ),
        (
            .retrying(attempt: 1, after: .milliseconds(500), code: "serverTransient"),
            "attempt 1 failed (serverTransient), the next follows in 500 ms", "retrying"
        ),
        (
            .renewalPlanned(after: .seconds(45), lease: .seconds(60)), "renewal planned in 45 s of a lease of 60 s",
            "renewalPlanned"
        ),
        (.renewalPlanned(after: .seconds(45), lease: nil), "renewal planned in 45 s", "renewalPlanned"),
        (.renewalDue, "the player is asked to renew", "renewalDue"),
        (
            .renewalFailed(code: "timedOut", nextAfter: nil), "the renewal failed (timedOut), and none follows",
            "renewalFailed"
        ),
        (
            .renewalFailed(code: "timedOut", nextAfter: .seconds(5)),
            "the renewal failed (timedOut), the next follows in 5 s", "renewalFailed"
        ),
        (.ended(error), "the key ended: \(error)", "ended"), (.released, "released", "released"),
        (
            .evicted, "newer keys took its place, and it is renewed no more", "evicted"
        ),
        (.answeredFromStore, "answered from the store", "answeredFromStore"), (.keyStored, "stored", "keyStored"),
        (.storedKeyDropped, "the player rejected the stored key, which was removed", "storedKeyDropped"),
        (.storedKeyExpired, "a window of the stored key ended", "storedKeyExpired"),
        (
            .storeFailed(OfflineError(.keyStoreMissing, "None.")),
            "the store failed: keyStoreMissing: None. Set `LoaderConfiguration.keyStore`.", "storeFailed"
        ),
        (.session(.on), "session on", "session"),
        (.sessionFailed(error), "the session failed: \(error)", "sessionFailed"),
        (.answered(took: .milliseconds(587)), "answered in 587 ms", "answered"),
        (.heldBySystem(took: .milliseconds(3)), "the system holds the key, found in 3 ms", "heldBySystem"),
        (.failed(error, took: .milliseconds(1_250)), "failed in 1.25 s (license): \(error)", "failed"),
    ]

    @Test(arguments: all)
    func `an event is one line of a log`(kind: KeyEvent.Kind, line: String, name: String) {
        #expect("\(Self.event(kind))" == "#3 skd://host/movie: \(line)")
        #expect("\(KeyEvent(exchange: 0, key: "", date: Self.date, kind: kind))" == line)
    }

    @Test(arguments: all)
    func `an event survives a JSON round trip`(kind: KeyEvent.Kind, line: String, name: String) throws {
        let json = try JSONEncoder().encode(Self.event(kind))
        let object = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
        #expect(object["event"] as? String == name && object["exchange"] as? Int == 3)
        #expect(
            object["date"] as? String == "2026-01-01T00:00:00.250Z" && object["key"] as? String == "skd://host/movie")
        let read = try JSONDecoder().decode(KeyEvent.self, from: json)
        #expect("\(read)" == "\(Self.event(kind))")
        #expect(read.level == Self.event(kind).level)
        #expect(abs(read.date.timeIntervalSince(Self.date)) < 0.001)
    }

    @Test(arguments: [
        #"{"date":"2026-01-01T00:00:00.250Z","exchange":1,"key":"","event":"of tomorrow"}"#,
        #"{"date":"2026-01-01T00:00:00.250Z","exchange":1,"key":"","event":"answered"}"#,
        #"{"date":"2026-01-01T00:00:00.250Z","exchange":1,"key":"","event":"answered","milliseconds":1e300}"#,
        #"{"date":"yesterday","exchange":1,"key":"","event":"released"}"#,
        #"{"exchange":1,"key":"","event":"released"}"#, "[]",
    ])
    func `other JSON is an error`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(KeyEvent.self, from: Data(json.utf8)) }
    }

    @Test func `a service's text stays on its line`() {
        let event = KeyEvent(
            exchange: 1, key: "skd://a\nb", date: Self.date,
            kind: .redirected(to: "https://c/\u{1b}[2J\u{202e}", credentialsDropped: false))
        #expect("\(event)" == #"#1 skd://a\u{a}b: redirected to https://c/\u{1b}[2J\u{202e}"#)
    }

    @Test func `levels separate failures from normal events`() {
        let levels = Dictionary(Self.all.map { ($0.2, Self.event($0.0).level) }) { $1 }
        #expect(levels["answered"] == .info && levels["exchanged"] == .debug && levels["retrying"] == .warning)
        #expect(levels["failed"] == .error && Self.event(.failed(.cancelled, took: .zero)).level == .info)
        #expect(KeyEvent.Level.allCases.sorted() == [.debug, .info, .warning, .error])
    }

    @Test func `a loader counts its events`() async {
        let harness = Harness(post: [.status(500), .ckc, .status(403)])
        let events = harness.loader.events()
        let (first, second) = (FakeKeyRequest(key), FakeKeyRequest(key))
        // Another key, as the refusal of the second answers a third request for it.
        let third = FakeKeyRequest("skd://fairplay-license.vudrm.tech/license/def") { nil }
        harness.loader.answer(first)
        await harness.advance([.milliseconds(500)])
        _ = await first.firstAnswer()
        #expect(await harness.answer(second).error?.kind == .forbidden)
        harness.loader.answer(third)
        await third.untilSystemHolds()
        let all = await events.untilAnswered(3)
        let statistics = harness.loader.statistics
        #expect(statistics.requested == 3 && statistics.answered == 1 && statistics.heldBySystem == 1)
        #expect(statistics.licenses == 1 && statistics.renewals == 0)
        #expect(statistics.failures == ["forbidden": 1] && statistics.failed == 1 && statistics.open == 0)
        #expect(statistics.retries == 2 && statistics.exchanged == 5 && statistics.unanswered == 0)
        #expect(
            statistics.timeToKey.count == 1 && statistics.timeToKey.longest == 500 && statistics.timeToKey.mean == 500)
        #expect(statistics.stages["spc"]?.count == 3)
        var counted = KeyStatistics()
        for event in all { counted.count(event) }
        #expect(counted == statistics)
    }
}
