import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyStores

@Suite(.timeLimit(.minutes(1)))
struct StoreAddressTests {
    @Test func `an address says which engine it is for`() throws {
        #expect(try StoreAddress("memory") == .memory)
        #expect(try StoreAddress("sqlite:/var/lib/latchkey/keys.db") == .sqlite(path: "/var/lib/latchkey/keys.db"))
        for text in ["postgresql://a,b/latchkey", "postgres://localhost/x"] {
            #expect(try StoreAddress(text) == .postgresql(Secret(text)))
        }
        for text in [
            "redis://:word@localhost:6379/1", "redis+unix:/run/redis.sock", "redis+sentinel://a:1,b:2/main",
            "rediss+cluster://a:1,b:2?passwordFile=/p",
        ] {
            #expect(try StoreAddress(text) == .redis(Secret(text)))
        }
    }

    @Test(arguments: ["", "sqlite:", "mysql://root:hunter2@localhost", "memory:", "hunter2"])
    func `other addresses are refused without quoting anything after the scheme`(_ text: String) {
        let error = #expect(throws: Diagnosis.self) { try StoreAddress(text) }
        #expect(error?.code == "storeAddress")
        #expect(error?.reason.contains("root") == false)
    }

    @Test func `an address resolves files in a folder and lists its secrets`() throws {
        let address = try StoreAddress("rediss://n@h:1?passwordFile=a/p.txt&caFile=/ca.pem&certificateFile=c&keyFile=k")
            .below(URL(filePath: "/etc/latchkey", directoryHint: .isDirectory))
        #expect(address.secretFiles == ["/etc/latchkey/a/p.txt", "/etc/latchkey/k"])
        guard case .redis(let secret) = address else {
            Issue.record("It is no address of Redis.")
            return
        }
        let read = try RedisAddress(secret)
        #expect(read.files[.caFile] == "/ca.pem" && read.files[.certificateFile] == "/etc/latchkey/c")
        #expect(try !address.holdsPassword && StoreAddress("redis://n:word@h?caFile=/x").holdsPassword)
    }

    @Test func `an @ in a file path is not a password, and a ? in one hides no file`() throws {
        #expect(try !StoreAddress("redis://h:6379?passwordFile=/run/a@b").holdsPassword)
        #expect(try StoreAddress("redis://n:a?b@h:6379?caFile=/run/a@b").holdsPassword)
        let folder = URL(filePath: "/etc/latchkey", directoryHint: .isDirectory)
        guard case .redis(let secret) = try StoreAddress("rediss://n:a?b@h:1?caFile=c@d").below(folder) else {
            Issue.record("It is no address of Redis.")
            return
        }
        let read = try RedisAddress(secret)
        #expect(read.files == [.caFile: "/etc/latchkey/c@d"] && read.password == Secret("a?b"))
    }

    @Test func `no address shows a password`() throws {
        #expect("\(try StoreAddress("redis://:hunter2@localhost"))".contains("hunter2") == false)
    }
}
