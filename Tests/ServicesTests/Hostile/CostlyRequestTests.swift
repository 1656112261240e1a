import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyTesting
import LatchkeyVendorWire
import Testing

@testable import LatchkeyServices

/// Requests that are cheap to send: their cost is compared with an ordinary request of the same size.
@Suite(.serialized, .timeLimit(.minutes(5))) struct CostlyRequestTests {
    private static let size = ServiceCall.bodyBytes - 64

    private static let bodies: [(name: String, type: String, body: String)] = {
        let json = "application/json"
        let form = "application/x-www-form-urlencoded"
        let fill = { (piece: String) in String(repeating: piece, count: size / piece.utf8.count) }
        return [
            (
                "arrays 500 deep", json,
                fill(String(repeating: "[", count: 500) + String(repeating: "]", count: 500) + ",")
            ),
            ("a deep array", json, fill("[")), ("a deep object", json, fill(#"{"a":"#)),
            ("an array of numbers", json, "{\"a\":[" + fill("1,") + "1]}"),
            ("an array of objects", json, "{\"a\":[" + fill("{},") + "1]}"),
            ("a text of escapes", json, "{\"spc\":\"" + fill("\\u002b") + "\"}"),
            ("members", json, "{" + (0..<size / 12).map { "\"a\($0)\":1" }.joined(separator: ",") + "}"),
            ("fields", form, fill("a&")), ("empty fields", form, fill("&")), ("blanks", form, "spc=" + fill("+")),
            ("escapes", form, "spc=" + fill("%2B")), ("broken escapes", form, "spc=" + fill("%")),
        ]
    }()

    @Test(arguments: bodies.map(\.name)) func `a body costs as much as any of its size`(_ name: String) async throws {
        let attack = try #require(Self.bodies.first { $0.name == name })
        let service = GenericService(ServiceEnvironment(authority: try Stage.authority()))
        let cost = { (type: String, body: String) async -> Double in
            let request = HTTPRequest(
                method: "POST", target: "/license", headers: ["Content-Type": type], body: Data(body.utf8))
            var times: [Double] = []
            for _ in 0..<3 {
                let start = ProcessorTime.now
                let response = await service.respond(to: request)
                times.append(ProcessorTime.now - start)
                #expect((400..<500).contains(response.status))
            }
            return times.min() ?? 0
        }
        let plain = await cost("application/json", "{\"spc\":\"" + String(repeating: "A", count: Self.size) + "\"}")
        let measured = await cost(attack.type, attack.body)
        // Before, the ratio was in the thousands. Concurrent tests count, too.
        #expect(measured < 100 * max(plain, 0.002))
    }

    @Test func `a body beyond the limit is not read`() async throws {
        let service = GenericService(ServiceEnvironment(authority: try Stage.authority()))
        let body = Data(repeating: UInt8(ascii: "["), count: ServiceCall.bodyBytes + 1)
        let request = HTTPRequest(
            method: "POST", target: "/license", headers: ["Content-Type": "application/json"], body: body)
        #expect(await service.respond(to: request).status == 413)
    }

    @Test(arguments: [500, 5_000]) func `deep claims are not a token`(_ depth: Int) {
        let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        #expect(JSONWebToken(jwt(#"{"a":\#(nested)}"#)) == nil)
    }
}

/// The processor time of this process, in seconds: unlike the clock it does not run while others work.
enum ProcessorTime {
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
