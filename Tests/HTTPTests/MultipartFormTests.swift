import Foundation
import LatchkeyHTTP
import Testing

@Suite struct MultipartFormTests {
    @Test func `fields are found by name, bytes unchanged`() throws {
        let form = try #require(
            parse(
                "--B\r\nContent-Disposition: form-data; name=\"spc\"\r\n\r\nAB+/=\r\n--B\r\n"
                    + "content-disposition: form-data; name=other; filename=\"x\"\r\nContent-Type: text/plain\r\n\r\n"
                    + "line\r\nline\r\n--B--\r\n"))
        #expect(form.parts.map(\.name) == ["spc", "other"])
        #expect(form["spc"] == Data("AB+/=".utf8))
        #expect(form["other"] == Data("line\r\nline".utf8))
        #expect(form.parts.last?.headers["content-type"] == "text/plain")
    }

    @Test(arguments: ["multipart/form-data", "multipart/form-data; boundary=", "application/json; boundary=B"])
    func `other content types are refused`(_ type: String) {
        #expect(parse("--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--", type: type) == nil)
    }

    @Test func `a body cut anywhere is a shorter form or none`() {
        let text = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B--"
        let complete = (0...text.count).filter { parse(String(text.prefix($0))) != nil }
        #expect(complete == [text.count])
    }

    @Test func `more than 64 fields are refused`() {
        let field = "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
        #expect(parse(String(repeating: field, count: 64) + "--B--") != nil)
        #expect(parse(String(repeating: field, count: 65) + "--B--") == nil)
    }

    private func parse(_ body: String, type: String = "multipart/form-data; boundary=\"B\"") -> MultipartForm? {
        MultipartForm(
            HTTPRequest(method: "POST", target: "/", headers: ["Content-Type": type], body: Data(body.utf8)))
    }
}
