import DocumentedRefusals
import Foundation
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyServices
import LatchkeyTesting
import Testing

/// Each emulated service sends each code of its vendor's page as the page documents it.
@Suite(.timeLimit(.minutes(2))) struct DocumentedRefusalTests {
    @Test(arguments: DocumentedCode.all)
    func `a documented code has its page's status, form and request identifier`(_ row: DocumentedCode) async throws {
        let service = try Self.service(row.service)
        let endpoint = ServiceEndpoint(rawValue: row.endpoint)
        service.faults.set(.refusal(code: row.code), at: endpoint)
        let reply = await service.respond(to: try Self.request(to: endpoint, of: service))
        let header = try #require(reply.headers["x-request-id"])
        #expect(reply.status == row.status)
        let words = "set to refuse"
        switch row.form {
        case .json(let code, let place, let requestID):
            let json = try #require(JSONValue(reply.bytes ?? Data()))
            if let code { #expect(Self.text(at: code, in: json) == row.code) }
            #expect(Self.text(at: place, in: json)?.contains(words) == true)
            if let requestID { #expect(Self.text(at: requestID, in: json) == header) }
        case .nested(let code, let place):
            let outer = try #require(JSONValue(reply.bytes ?? Data()))
            #expect(outer["errorCode"]?.text == row.code)
            let inner = try #require(JSONValue(Data((outer["message"]?.text ?? "").utf8)))
            #expect(inner[code]?.text == row.code && inner[place]?.text?.contains(words) == true)
        case .headers(let code, let place):
            if let code { #expect(reply.headers[HTTPHeaderName(code)] == row.code) }
            #expect(reply.headers[HTTPHeaderName(place)]?.isEmpty == false)
        case .html:
            #expect(reply.headers[.contentType] == "text/html")
            #expect(String(decoding: reply.bytes ?? Data(), as: UTF8.self).contains("Error \(row.code)<"))
        case .text:
            #expect(String(decoding: reply.bytes ?? Data(), as: UTF8.self).contains(words))
        }
    }

    /// The entitlement server of ExpressPlay answers in its own form, by `ExpressPlayEntitlementTests`.
    @Test func `the services have exactly the codes of the pages`() throws {
        for service in try Self.all {
            let own = service.documentedRefusals.flatMap { refusal in
                refusal.endpoints.filter { $0 != .entitlement }.map { "\($0) \(refusal.code)" }
            }
            let ofPage = DocumentedCode.all.filter { $0.service == service.identifier.rawValue }
            #expect(Set(own) == Set(ofPage.map { "\($0.endpoint) \($0.code)" }), "\(service.identifier)")
            #expect(own.count == Set(own).count, "\(service.identifier)")
        }
    }

    @Test func `a code of another endpoint, or of none, keeps the vendor's form`()
        async throws
    {
        let service = try Self.service("nagra")
        for (code, status) in [("1007", 400), ("4711", 403)] {
            service.faults.set(.refusal(code: code), at: .certificate)
            let reply = await service.respond(to: try Self.request(to: .certificate, of: service))
            #expect(reply.status == status)
            #expect(JSONValue(reply.bytes ?? Data())?["errorCode"]?.number == Double(code))
        }
    }

    private static var all: [any VendorService] {
        get throws {
            let authority = try Stage.authority()
            return VendorServices.all(authority: authority, time: ManualTimekeeper())
        }
    }

    private static func service(_ name: String) throws -> any VendorService {
        try #require(try all.first { $0.identifier.rawValue == name })
    }

    private static func request(to endpoint: ServiceEndpoint, of service: any VendorService) throws -> HTTPRequest {
        let route = try #require(service.routes.first { $0.handler.endpoint == endpoint })
        let path = route.path.text.split(separator: "/", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("{") ? "x" : String($0) }.joined(separator: "/")
        return HTTPRequest(method: try #require(route.methods.first), target: path)
    }

    /// The text or the number at a path, such as `error.code` or `0.message`.
    private static func text(at path: String, in json: JSONValue) -> String? {
        let value = path.split(separator: ".").reduce(Optional(json)) { value, name in
            guard let index = Int(name) else { return value?[String(name)] }
            guard case .array(let values) = value, values.indices.contains(index) else { return nil }
            return values[index]
        }
        return value?.text ?? value?.number.map { "\(Int($0))" }
    }
}
