import Foundation
import LatchkeyCore
import Testing

@Suite struct ContentKeyTests {
    @Test(arguments: [(16, 16, true), (15, 16, false), (16, 17, false), (0, 0, false), (32, 16, false)])
    func `a key and an IV are sixteen bytes each`(key: Int, iv: Int, isKey: Bool) {
        let made = ContentKey(key: Secret(Data(count: key)), iv: Secret(Data(count: iv)))
        #expect((made != nil) == isKey)
    }

    @Test func `printing a key shows neither key nor IV`() throws {
        let key = try #require(ContentKey(key: Secret("0123456789abcdef"), iv: Secret("fedcba9876543210")))
        var dumped = ""
        dump(key, to: &dumped)
        #expect(!"\(key)\(String(reflecting: key))\(dumped)".contains("789abc"))
        #expect(!"\(key)\(String(reflecting: key))\(dumped)".contains("cba987"))
    }
}
