import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyTesting
import LatchkeyVendorWire
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensing

@Suite(.timeLimit(.minutes(5))) struct ServerLogTests {
    private let clock = ManualTimekeeper(date: Date(timeIntervalSince1970: 1_767_225_600.25))
    private let written = Locked<[Data]>([])
    private let dropped = Locked(0)
    private let writer: LineWriter

    init() {
        writer = LineWriter { [written] data in written.withLock { $0.append(data) } }
    }

    private func log(cap: Int? = nil, level: LogLevel = .info) -> ServerLog {
        ServerLog(
            writer, pseudonyms: UserPseudonyms(secret: Secret("0123456789abcdef")), level: level, cap: cap,
            timekeeper: clock
        ) { [dropped] _ in dropped.withLock { $0 += 1 } }
    }

    private func lines() async -> [String] {
        await writer.flush()
        let text = String(decoding: written.withLock { Data($0.joined()) }, as: UTF8.self)
        return text.split(separator: "\n").map(String.init)
    }

    @Test func `an entry is one JSON line with a cut address and pseudonym`() async throws {
        var entry = LogEntry(.info, .license)
        entry.requestID = RequestID("request-1")
        entry.tenant = "a"
        entry.endpoint = .fairPlay
        entry.status = 200
        entry.duration = .microseconds(4_321)
        entry.keyID = KeyID("00112233-4455-6677-8899-aabbccddeeff")
        entry.user = "jane@example.com"
        entry.address = AddressRange("203.0.113.7")
        log().write(entry)
        let line = try #require(await lines().first)
        let value = try #require(JSONValue(Data(line.utf8)))
        #expect(value["ts"]?.text == "2026-01-01T00:00:00.250Z")
        #expect(value["kid"]?.text == "00112233-4455-6677-8899-aabbccddeeff")
        #expect(value["address"]?.text == "203.0.113.0/24")
        #expect(value["ms"]?.number == 4.321)
        #expect(value["status"]?.number == 200)
        #expect(value["user"]?.text?.count == 32)
        #expect(!line.contains("jane"))
    }

    @Test func `a user has one pseudonym per tenant, and none if unnamed`() async throws {
        let pseudonyms = UserPseudonyms(secret: Secret("0123456789abcdef"))
        #expect(pseudonyms.pseudonym(of: "u", at: "a") == pseudonyms.pseudonym(of: "u", at: "a"))
        #expect(pseudonyms.pseudonym(of: "u", at: "a") != pseudonyms.pseudonym(of: "u", at: "b"))
        #expect(
            pseudonyms.pseudonym(of: "u", at: "a")
                != UserPseudonyms(secret: Secret("other")).pseudonym(of: "u", at: "a"))
        var entry = LogEntry(.info, .license)
        entry.user = "jane"
        log().write(entry)
        #expect(try await JSONValue(Data(#require(lines().first).utf8))?["user"] == nil)
    }

    private static let secrets = [
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJqYW5lIn0.dBjftJeZ4CVP-mBl9N2wA7Xq1gzrQ3kq5L0uNTLkR4E",
        "00112233445566778899aabbccddeeff", "AAECAwQFBgcICQoLDA0ODw==", "q83vEjRWeJCrze8SNFZ4kA",
        "https://user:t0ps3cretpassw0rdt0ps3cr3t@example.com/?token=f00ba4f00ba4f00ba4f00ba4",
        "https://cdn.example/hdntl=exp=1~acl=/*~hmac=f00ba4f00ba4f00ba4f00ba4/list.m3u8",
    ]

    @Test(arguments: secrets) func `a secret in any field is not written`(secret: String) async throws {
        let texts: [WritableKeyPath<LogEntry, String?>] = [\.tenant, \.reason, \.message, \.user]
        let log = log()
        for text in texts {
            for shape in [secret, "Bearer \(secret)", "{\"key\":\"\(secret)\"}", "a, \(secret), b"] {
                var entry = LogEntry(.error, .license)
                entry.tenant = "a"
                entry[keyPath: text] = shape
                log.write(entry)
            }
        }
        let lines = await lines()
        #expect(lines.count == texts.count * 4)
        let tell = secret.split { "./:@?=".contains($0) }.filter { $0.count >= 20 }
        #expect(!tell.isEmpty)
        for line in lines { #expect(!tell.contains { line.contains($0) }) }
    }

    @Test func `codes, names and sentences are written unchanged`() async throws {
        var entry = LogEntry(
            .info, .license,
            message: "The store postgresql-primary.eu-west-1.internal does not answer: connection refused (111).")
        entry.reason = "callerOfAnotherTenantAndAVeryLongCodeInDeed"
        entry.tenant = "broadcaster-one"
        log().write(entry)
        let value = try await JSONValue(Data(#require(lines().first).utf8))
        #expect(value?["message"]?.text == entry.message)
        #expect(value?["reason"]?.text == entry.reason)
        #expect(value?["tenant"]?.text == "broadcaster-one")
    }

    @Test func `output has no control character or second line`() async throws {
        var entry = LogEntry(
            .warning, .license, message: "a\r\n{\"event\":\"forged\"}\u{1b}[31m\u{85}\u{2028}\u{202e}\u{0}")
        entry.tenant = "\u{7f}\u{9b}x"
        entry.reason = String(repeating: "reason ", count: 10_000)
        log().write(entry)
        let lines = await lines()
        #expect(lines.count == 1)
        #expect(lines[0].utf8.count < 6_000)
        #expect(
            !lines[0].unicodeScalars.contains {
                $0.value < 0x20 || 0x7f..<0xa0 ~= $0.value || $0.value == 0x2028 || $0.value == 0x202e
            })
        #expect(JSONValue(Data(lines[0].utf8))?["message"]?.text?.contains("forged") == true)
    }

    @Test func `an event has its share of lines, and the next period says how many were dropped`() async throws {
        let log = log(cap: 3)
        for _ in 0..<10 { log.write(LogEntry(.info, .license)) }
        log.write(LogEntry(.info, .life))
        clock.advance(by: .seconds(1))
        log.write(LogEntry(.info, .license))
        log.write(LogEntry(.info, .license))
        let values = await lines().compactMap { JSONValue(Data($0.utf8)) }
        #expect(values.count == 6)
        #expect(values.map { $0["dropped"]?.number } == [nil, nil, nil, nil, 7, nil])
        #expect(dropped.withLock { $0 } == 7)
    }

    @Test func `lines without room are counted, and the next one with room reports the number`() async {
        let (written, dropped) = (Locked(Data()), Locked(0))
        let writer = LineWriter(limit: 400) { lines in written.withLock { $0.append(lines) } }
        let log = ServerLog(
            writer, pseudonyms: UserPseudonyms(secret: Secret("0123456789abcdef")), timekeeper: clock
        ) { _ in dropped.withLock { $0 += 1 } }
        for _ in 0..<50 { log.write(LogEntry(.info, .license)) }
        let lost = dropped.withLock { $0 }
        #expect(lost > 0 && writer.dropped == UInt64(lost))
        await writer.flush()
        log.write(LogEntry(.info, .license))
        await writer.flush()
        let lines = written.withLock { $0 }.split(separator: UInt8(ascii: "\n")).compactMap { JSONValue(Data($0)) }
        #expect(lines.reduce(0) { $0 + ($1["dropped"]?.number ?? 0) } == Double(lost))
    }

    @Test func `dropped lines that no later line reports get one line, once, outside the cap`() async throws {
        let log = log(cap: 2)
        for _ in 0..<10 { log.write(LogEntry(.info, .shed)) }
        log.tellDropped()
        log.tellDropped()
        let values = await lines().compactMap { JSONValue(Data($0.utf8)) }
        #expect(values.map { $0["dropped"]?.number } == [nil, nil, 8])
        #expect(values.last?["event"]?.text == "shed" && values.last?["level"]?.text == "warning")
        #expect(dropped.withLock { $0 } == 8)
    }

    @Test func `a report without room is written later`() async throws {
        let written = Locked(Data())
        let (gate, began) = (DispatchSemaphore(value: 0), Gate())
        let writer = LineWriter(limit: 200) { lines in
            began.open()
            gate.wait()
            gate.signal()
            written.withLock { $0.append(lines) }
        }
        let log = ServerLog(
            writer, pseudonyms: UserPseudonyms(secret: Secret("0123456789abcdef")), cap: 1_000, timekeeper: clock)
        log.write(LogEntry(.info, .license))
        await began.wait()
        // Until the first line is written, no other one makes room.
        for _ in 0..<20 { log.write(LogEntry(.info, .license)) }
        let lost = Double(writer.dropped)
        #expect(lost > 0)
        log.tellDropped()
        gate.signal()
        await writer.flush()
        log.tellDropped()
        await writer.flush()
        let lines = written.withLock { $0 }.split(separator: UInt8(ascii: "\n")).compactMap { JSONValue(Data($0)) }
        #expect(lines.compactMap { $0["dropped"]?.number } == [lost])
    }

    #if os(Linux)
        @Test func `lines that a full disk rejects are counted, and reported once there is room`() async throws {
            let counted = Locked<[LogEvent: Int]>([:])
            let descriptor = open("/dev/full", O_WRONLY)
            let writer = LineWriter(descriptor: descriptor)
            let log = ServerLog(
                writer, pseudonyms: UserPseudonyms(secret: Secret("0123456789abcdef")), timekeeper: clock
            ) { event in counted.withLock { $0[event, default: 0] += 1 } }
            for _ in 0..<5 { log.write(LogEntry(.info, .license)) }
            await writer.flush()
            #expect(counted.withLock { $0 } == [.log: 5])
            // The line that reports it is refused, too.
            log.tellDropped()
            await writer.flush()
            let pipe = Pipe()
            dup2(pipe.fileHandleForWriting.fileDescriptor, descriptor)
            for _ in 0..<2 {
                log.tellDropped()
                await writer.flush()
            }
            try pipe.fileHandleForWriting.close()
            close(descriptor)
            let lines = pipe.fileHandleForReading.readDataToEndOfFile().split(separator: UInt8(ascii: "\n"))
                .compactMap { JSONValue(Data($0)) }
            #expect(lines.count == 1)
            #expect(lines.first?["event"]?.text == "log" && lines.first?["dropped"]?.number == 6)
        }
    #endif

    /// A player's request, and its event.
    private static let events: [(RequestEndpoint, LogEvent)] = [
        (.fairPlay, .license), (.slot, .license), (.vendor("axinom", .license), .license),
        (.slotDescription, .certificate),
        (.heartbeat, .heartbeat), (.session, .heartbeat),
        (.certificate, .certificate), (.vendor("vudrm", .certificate), .certificate), (.none, .stray),
    ]

    @Test(arguments: events) func `a player's request is an event by its endpoint, or shed if overloaded`(
        _ endpoint: RequestEndpoint, _ event: LogEvent
    ) {
        var report = LicenseReport(tenant: "a", endpoint: endpoint, requestID: "request-1", at: .zero)
        #expect(LogEvent(of: report) == event)
        report.outcome = .refused(LicenseRefusal(.overloaded, reason: "Full."))
        #expect(LogEvent(of: report) == .shed)
    }

    /// How requests end, and the words for it.
    private static let ends: [(RequestOutcome, String, String?)] = [
        (.ok, "ok", nil), (.license, "granted", nil), (.acknowledge, "acknowledged", nil),
        (.refused(LicenseRefusal(.policy(.blocked), reason: "No.")), "refused", "blocked"),
        (.refused(LicenseRefusal(.policy(.storeUnavailable), reason: "No.")), "failed", "storeUnavailable"),
        (.refused(LicenseRefusal(.overloaded, reason: "No.")), "shed", "overloaded"),
    ]

    @Test(arguments: ends) func `a request's entry has its outcome, and a refusal has code and reason`(
        _ outcome: RequestOutcome, _ word: String, _ code: String?
    ) async throws {
        var report = LicenseReport(tenant: "a", endpoint: .fairPlay, requestID: "request-1", at: .zero)
        report.outcome = outcome
        let status = outcome.refusal?.status ?? 200
        log().write(LogEntry(report, .license, status: status, at: .milliseconds(3)))
        let line = try #require(await lines().first)
        let value = try #require(JSONValue(Data(line.utf8)))
        #expect(value["outcome"]?.text == word && value["reason"]?.text == code)
        #expect(value["message"]?.text == (code == nil ? nil : "No."))
        #expect(value["ms"]?.number == 3 && value["endpoint"]?.text == "fairplay")
        #expect(value["level"]?.text == (status >= 500 ? "error" : "info"))
    }

    @Test func `licenses at two thousand a second are all logged`() async {
        let log = log()
        for _ in 0..<2_000 { log.write(LogEntry(.info, .license)) }
        #expect(await lines().count == 2_000)
        #expect(dropped.withLock { $0 } == 0)
    }

    @Test func `a lower level is not written`() async {
        let log = log(level: .warning)
        log.write(LogEntry(.info, .license))
        log.write(LogEntry(.warning, .license))
        #expect(await lines().count == 1)
    }

    @Test func `many tasks write whole lines`() async {
        let log = log(cap: 100_000)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<200 { log.write(LogEntry(.info, .license, message: "a sentence of some length")) }
                }
            }
        }
        let lines = await lines()
        #expect(lines.count == 1_600)
        #expect(lines.allSatisfy { JSONValue(Data($0.utf8)) != nil })
    }

    @Test func `a reader that does not read blocks no caller and costs lines, not memory`() async {
        let (gate, began) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let count = Locked(0)
        let writer = LineWriter(limit: 100) { data in
            began.signal()
            gate.wait()
            count.withLock { $0 += data.count }
        }
        writer.append(Data(count: 50))
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                began.wait()
                done.resume()
            }
        }
        for _ in 0..<1_000 { writer.append(Data(count: 10)) }
        #expect(writer.dropped == 990)
        gate.signal()
        gate.signal()
        await writer.flush()
        #expect(count.withLock { $0 } == 150)
    }

    @Test func `lines reach a file descriptor`() async throws {
        let pipe = Pipe()
        let writer = LineWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        writer.append(Data("one\n".utf8))
        writer.append(Data("two\n".utf8))
        await writer.flush()
        try pipe.fileHandleForWriting.close()
        #expect(String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "one\ntwo\n")
    }
}
