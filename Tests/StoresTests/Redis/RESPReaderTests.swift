import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import Testing

@testable import LatchkeyStores

@Suite(.timeLimit(.minutes(1))) struct RESPReaderTests {
    private func all(_ bytes: some Collection<UInt8>) throws(StoreError) -> [RESPValue] {
        var reader = RESPReader()
        reader.append(bytes)
        var values: [RESPValue] = []
        while let value = try reader.next() { values.append(value) }
        return values
    }

    static let answers: [(String, RESPValue)] = [
        ("+OK\r\n", .status("OK")), ("-ERR no\r\n", .error("ERR no")), (":-42\r\n", .integer(-42)),
        ("$0\r\n\r\n", .bulk([])), ("$-1\r\n", .bulk(nil)), ("$3\r\na\r\n\r\n", .bulk([0x61, 0x0d, 0x0a])),
        ("*0\r\n", .list([])), ("*-1\r\n", .list(nil)),
        ("*2\r\n:1\r\n*1\r\n$1\r\nx\r\n", .list([.integer(1), .list([.bulk([0x78])])])),
    ]

    @Test(arguments: answers) func `an answer is read, wherever it is cut`(_ text: String, _ value: RESPValue) throws {
        #expect(try all(text.utf8) == [value])
        #expect(try all((text + text).utf8) == [value, value])
        for cut in 0..<text.utf8.count { #expect(try all(text.utf8.prefix(cut)) == []) }
        var reader = RESPReader()
        for byte in text.utf8.dropLast() {
            reader.append([byte])
            #expect(try reader.next() == nil)
        }
        reader.append([0x0a])
        #expect(try reader.next() == value)
    }

    @Test(arguments: [
        "HTTP/1.1 400\r\n", "\r\n", "+OK\n", ":1x\r\n", ":+1\r\n", ":\r\n", "$-2\r\n", "$1048577\r\n", "$1\r\nabc\r\n",
        "*100001\r\n", "*-2\r\n", String(repeating: "*1\r\n", count: 9) + ":1\r\n", "$99999999999999999999\r\n",
    ])
    func `invalid or oversized answers are refused`(_ text: String) {
        #expect(throws: StoreError.self) { try all(text.utf8) }
    }

    @Test func `a line without an end is refused`() {
        #expect(throws: StoreError.self) { try all([0x2b] + [UInt8](repeating: 0x61, count: 70_000)) }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func `random bytes do no harm`(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let letters = Array("*$:+-0129\r\nx".utf8)
        for _ in 0..<5_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &generator)).map { _ in
                letters.randomElement(using: &generator) ?? 0
            }
            _ = try? all(bytes)
        }
    }
}

@Suite(.timeLimit(.minutes(1))) struct RedisAddressTests {
    @Test func `every form is read`() throws {
        let plain = try RedisAddress(Secret("redis://localhost"))
        #expect(plain.form == .server(.host("localhost", port: 6_379)) && !plain.isTLS)
        #expect((plain.user, plain.password, plain.database) == (nil, nil, 0))
        let full = try RedisAddress(Secret("redis://me:w%40rd@[::1]:7000/3"))
        #expect(full.form == .server(.host("::1", port: 7_000)))
        #expect((full.user, full.password, full.database) == ("me", Secret("w@rd"), 3))
        #expect(try RedisAddress(Secret("redis://:word@h")).user == nil)
        #expect(try RedisAddress(Secret("redis+unix:/run/redis.sock")).form == .server(.path("/run/redis.sock")))
        let both: [RedisAddress.Endpoint] = [.host("a", port: 1), .host("b", port: 2)]
        #expect(try RedisAddress(Secret("redis+sentinel://a:1,b:2/main")).form == .sentinels(both, name: "main"))
        for (scheme, isTLS) in [("redis", false), ("rediss", true)] {
            let cluster = try RedisAddress(Secret("\(scheme)+cluster://node@a:1,b:2?passwordFile=%2Fp%20w&replicas=1"))
            #expect(cluster.form == .cluster(both) && cluster.isTLS == isTLS && cluster.user == "node")
            #expect(cluster.files == [.passwordFile: "/p w"] && cluster.replicas == RedisRecordStore.Replicas(1))
        }
        let certified = try RedisAddress(Secret("rediss://h?caFile=/a&certificateFile=/c&keyFile=/k"))
        #expect(certified.files == [.caFile: "/a", .certificateFile: "/c", .keyFile: "/k"])
        #expect(plain.replicas == nil)
        #expect(try RedisAddress(Secret("redis://h/3?replicas=2")).replicas == RedisRecordStore.Replicas(2))
        let careful = try RedisAddress(Secret("redis+sentinel://:a?b@h:1/main?replicas=1"))
        #expect(
            (careful.form, careful.replicas, careful.password) == (
                .sentinels([.host("h", port: 1)], name: "main"), RedisRecordStore.Replicas(1), Secret("a?b")
            ))
    }

    @Test(arguments: ["redis", "rediss", "redis+sentinel", "rediss+cluster"])
    func `an @ in a file path ends no user name, and a ? in a password starts no parameters`(
        _ scheme: String
    ) throws {
        let rest = scheme == "redis+sentinel" ? "/main" : ""
        let path = try RedisAddress(Secret("\(scheme)://h:1\(rest)?replicas=1&passwordFile=/run/a@b"))
        #expect(path.files == [.passwordFile: "/run/a@b"] && path.user == nil && path.password == nil)
        #expect("\(path.form)".contains(#""h", port: 1"#))
        let both = try RedisAddress(Secret("\(scheme)://n@h:1\(rest)?passwordFile=/run/a@b"))
        #expect(both.files == [.passwordFile: "/run/a@b"] && both.user == "n" && both.form == path.form)
        let marked = try RedisAddress(Secret("\(scheme)://n:a?b@c?d@h:1\(rest)?replicas=1"))
        #expect(marked.password == Secret("a?b@c?d") && marked.form == path.form && marked.replicas != nil)
    }

    @Test(arguments: [
        "", "redis://", "redis://h:x", "redis://h:99999", "redis://h/x", "redis://hunter2@h", "redis://a,b",
        "redis+unix:",
        "redis://h?replicas=0", "redis://h?replicas=x", "redis://h?wait=1", "redis://h?",
        "redis+sentinel://a:1", "redis+sentinel://a:1/", "redis+sentinel://a:1,/x", "http://h",
        "redis+cluster://a:1/0", "redis+cluster://", "redis://h?caFile=/a", "rediss://h?keyFile=/k",
        "redis://h?userFile=/u", "redis://:hunter2@h?passwordFile=/p", "redis://h?passwordFile=",
        "redis://h?passwordFile=/p&passwordFile=/q",
    ])
    func `anything else is refused without quoting it`(_ text: String) {
        #expect { try RedisAddress(Secret(text)) } throws: { error in
            (error as? StoreError)?.kind == .misconfigured && !"\(error)".contains("hunter2")
        }
    }
}
