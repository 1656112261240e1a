import Foundation
import LatchkeyHTTP
import Testing

@Suite struct HTTPRequestTests {
    @Test(arguments: [
        ("/", "/"), ("/a%2Fb", "/a/b"), ("/a%zz", "/a%zz"), ("/%ff", "/%ff"), ("http://h:1/p/q?x=1", "/p/q"),
        ("/a+b", "/a+b"), ("*", "*"), ("/a?b?c", "/a"),
    ])
    func `the path is decoded if possible`(_ target: String, _ path: String) {
        #expect(HTTPRequest(method: "GET", target: target).path == path)
    }

    @Test func `query values ignore case, and the first one wins`() {
        let request = HTTPRequest(method: "GET", target: "/?brandguid=1&BrandGuid=2&token=a.b-c_d%3D&e=&f")
        #expect(request.queryValue("BRANDGUID") == "1")
        #expect(request.queryValue("token") == "a.b-c_d=")
        #expect(request.queryValue("e") == "")
        #expect(request.queryValue("f") == nil)
        #expect(request.queryValue("none") == nil)
    }

    @Test(arguments: [
        ("/vudrm/license/1?x=2", "/license/1?x=2"), ("/vudrm", "/"), ("/vudrm?x", "/?x"), ("/vudrmx/a", nil),
        ("/other", nil), ("http://h/vudrm/a", "/a"),
    ])
    func `a request below a prefix loses it`(_ target: String, _ below: String?) {
        #expect(HTTPRequest(method: "GET", target: target).below("/vudrm")?.target == below)
    }

    @Test func `header fields keep order and duplicates`() {
        var headers: HTTPHeaders = ["A": "1", "b": "2", "a": "3"]
        #expect(headers["a"] == "1")
        #expect(headers.values(of: "A") == ["1", "3"])
        headers["A"] = "4"
        #expect(headers.fields.map(\.value) == ["2", "4"])
        headers["B"] = nil
        #expect(headers.fields.count == 1)
    }

    @Test(arguments: [("Text/HTML; charset=utf-8", "text/html"), (" application/json ", "application/json"), ("", nil)])
    func `the media type has no parameters`(_ field: String, _ type: String?) {
        #expect((["Content-Type": field] as HTTPHeaders).mediaType == type)
    }
}
