import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct ProfileProblemTests {
    private func problems(_ json: String) -> [ProfileProblem] { VendorProfile.problems(inJSON: Data(json.utf8)) }

    @Test(arguments: BrokenProfile.wrongForms + BrokenProfile.misspelled + BrokenProfile.senseless)
    func `a broken profile gives field and reason`(broken: BrokenProfile) throws {
        let json = try DocumentedProfile.json(with: broken.value, at: broken.place)
        let problems = VendorProfile.problems(inJSON: json)
        let found = problems.filter { $0.field == broken.field }
        #expect(found.contains { $0.reason.contains(broken.reason) }, "\(problems)")
        #expect(problems.allSatisfy { $0.reason.hasSuffix(".") && !$0.reason.contains("Swift") })
        #expect(throws: ProfileError(problems: problems)) { try VendorProfile(json: json) }
    }

    @Test(arguments: BrokenProfile.misspelled)
    func `a misspelled member is the only problem`(broken: BrokenProfile) throws {
        let json = try DocumentedProfile.json(with: broken.value, at: broken.place)
        #expect(VendorProfile.problems(inJSON: json).map(\.field) == [broken.field])
    }

    @Test func `one check finds every problem of the form`() {
        let json = """
            {"identifier": "x", "nmae": "X", "contentIdentifier": "x", "certificate": {"inline": 1},
             "licence": {}, "license": {"url": {"base": "y"}, "body": {"form": [{"value": 2}]}, "haeders": []},
             "decoder": {"json": 1}}
            """
        let fields = problems(json).map(\.field)
        for field in [
            "name", "nmae", "contentIdentifier", "certificate.inline", "licence", "license.url.base",
            "license.body.form[0].name", "license.body.form[0].value", "license.haeders", "decoder.json",
        ] {
            #expect(fields.contains(field), "\(fields)")
        }
        #expect(Set(fields).count == fields.count)
    }

    @Test(arguments: ["", "nonsense", "{\"identifier\": \"x\"", "\u{feff}", "{'identifier': 1}"])
    func `non-JSON is named as such`(text: String) {
        let found = problems(text)
        #expect(found.map(\.field) == ["$"])
        #expect(found.first?.reason.hasPrefix("This is not JSON") == true)
    }

    @Test(arguments: ["[]", "3", "\"vudrm\"", "null"])
    func `JSON in another form is named`(text: String) {
        #expect(problems(text).map(\.field) == ["$"])
    }

    @Test func `a repeated member is named by its line`() throws {
        let json = String(decoding: try DocumentedProfile.json(), as: UTF8.self)
        let found = problems("{\n\"name\": \"Acme\",\(json.dropFirst())")
        #expect(found.map(\.field) == ["$"])
        #expect(
            found.first?.reason.hasPrefix("A member is repeated in one object, again at line 4, column 3.") == true)
    }

    @Test(arguments: ["{", "\u{feff}{", #"{"session": null, "lookup": null, "#])
    func `a byte order mark and null members change nothing`(start: String) throws {
        let file = String(decoding: try JSONEncoder().encode(VendorProfile.genericRaw), as: UTF8.self)
        #expect(try VendorProfile(json: Data("\(start)\(file.dropFirst())".utf8)) == .genericRaw)
    }

    @Test func `an endlessly nested document is refused`() {
        let rule = String(repeating: #"{"base64":"#, count: 20_000) + "\"host\"" + String(repeating: "}", count: 20_000)
        #expect(!problems(#"{"identifier":"x","contentIdentifier":\#(rule)}"#).isEmpty)
    }

    @Test func `the error shows three problems and counts the others`() throws {
        let error = #expect(throws: ProfileError.self) { try VendorProfile(json: Data("{}".utf8)) }
        #expect(error?.code == "profileMalformed")
        #expect(error?.problems.count == 6)
        #expect(error?.reason.hasSuffix("The member is missing. Add it. There are 3 more problems.") == true)
    }
}
