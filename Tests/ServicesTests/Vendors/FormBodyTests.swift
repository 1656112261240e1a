import Foundation
import LatchkeyServices
import LatchkeyVendorWire
import Testing

@Suite struct FormBodyTests {
    @Test(arguments: [
        ("spc=a%2Bb%2F%3D&assetId=x", "a+b/="), ("spc=a+b", "a b"), ("spc=a=b==", "a=b=="), ("SPC=a", "a"),
        ("a=1&spc=2&spc=3", "2"), ("spc&spc=2", "2"), ("spc=%zz", "%zz"), ("&&spc=1&", "1"), ("spc=", ""),
    ])
    func `a field is found and decoded`(_ body: String, _ value: String) throws {
        #expect(try #require(FormBody(Data(body.utf8)))["spc"] == value)
    }

    @Test(arguments: ["", "spc", "=a", "other=1"])
    func `a field that is absent or has no value`(_ body: String) throws {
        #expect(try #require(FormBody(Data(body.utf8)))["spc"] == nil)
    }

    @Test func `invalid UTF-8 is not a form`() {
        #expect(FormBody(Data([0xff, 0xfe])) == nil)
    }
}
