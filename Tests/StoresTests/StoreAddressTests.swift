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
        for text in ["redis://:word@localhost:6379/1", "redis+unix:/run/redis.sock", "redis+sentinel://a:1,b:2/main"] {
            #expect(try StoreAddress(text) == .redis(Secret(text)))
        }
    }

    @Test(arguments: ["", "sqlite:", "mysql://root:hunter2@localhost", "memory:", "hunter2"])
    func `another address is refused, and no word behind its scheme is repeated`(_ text: String) {
        let error = #expect(throws: Diagnosis.self) { try StoreAddress(text) }
        #expect(error?.code == "storeAddress")
        #expect(error?.reason.contains("root") == false)
    }

    @Test func `no address shows a password`() throws {
        #expect("\(try StoreAddress("redis://:hunter2@localhost"))".contains("hunter2") == false)
    }
}
