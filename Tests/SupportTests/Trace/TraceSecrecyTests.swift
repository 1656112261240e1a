import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeySupport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// 10,000 secrets in every place that an exchange has: none is in any file.
@Suite(.timeLimit(.minutes(5))) struct TraceSecrecyTests {
    private static let exchanges = 500
    private static let secretsEach = 20

    /// The secrets of an exchange, 24 hexadecimal digits each.
    private static func secrets(_ exchange: Int) -> [String] {
        var generator = SeededGenerator(seed: UInt64(exchange) &* 7_919 &+ 1)
        return (0..<secretsEach).map { _ in generator.bytes(12).hexString }
    }

    private struct Leaky: VendorIntegration {
        let identifier = "leaky"

        func bundledCertificate() throws -> ApplicationCertificate? {
            try ApplicationCertificate(SampleBytes.certificate)
        }

        func licenseRequest(for spc: SPCMessage, _ context: LicenseContext) async throws -> URLRequest {
            let token = try await context.credentials().values["token"]?.revealedText ?? ""
            let number = Int(context.keyURI.raw.split(separator: "/").last?.prefix { $0.isNumber } ?? "") ?? 0
            let planted = TraceSecrecyTests.secrets(number)
            var request = URLRequest(url: URL(filePath: "/"))
            request.url = URL(
                string:
                    "https://user:\(planted[2])@a.example/hdntl=exp=1~hmac=\(planted[3])/l;sig=\(planted[4])/\(token)/\(number)?session=\(planted[3])&\(planted[4])#access_token=\(planted[2])"
            )
            request.httpMethod = "POST"
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
            request.setValue(planted[5], forHTTPHeaderField: "X-Anything")
            request.setValue("id=\(planted[6])", forHTTPHeaderField: "Cookie")
            let fields = planted[7...10].map { "\"f\($0.prefix(2))\":\"\($0)\"" }.joined(separator: ",")
            let message = spc.bytes.revealed.base64EncodedString()
            request.httpBody = Data("{\"spc\":\"\(message)\",\(fields)}".utf8)
            return request
        }

        func license(from exchange: HTTPExchange, _ context: LicenseContext) throws -> License {
            guard exchange.reply.status == 200 else {
                let sent = exchange.request.url?.absoluteString ?? ""
                let token = exchange.request.value(forHTTPHeaderField: "Authorization") ?? ""
                throw IntegrationError(
                    .forbidden, "\(sent) was refused, with \(token).", service: ServiceReply(status: 403))
            }
            return License(ckc: Secret(exchange.reply.body))
        }
    }

    private static func reply(to request: URLRequest) -> FakeTransport.Step {
        let number = Int(request.url?.path.split(separator: "/").last ?? "") ?? 0
        let planted = secrets(number)
        if request.url?.path.contains("/moved/") == false, number % 5 == 0 {
            return .status(307, [("Location", "/moved/\(number)?state=\(planted[11])")])
        }
        let headers = [
            ("Set-Cookie", "s=\(planted[12])"), ("X-Other", planted[13]), ("X-Request-Id", planted[0]),
            ("ETag", planted[14]),
        ]
        let body = Data("\(planted[15]) \(planted[16])".utf8) + SampleBytes.ckc()
        return .reply(HTTPReply(status: number % 3 == 0 ? 403 : 200, headers: headers, body: body))
    }

    @Test func `no page, OTLP, HAR or bundle has any of 10,000 planted secrets`() async throws {
        let (number, recorded) = (Locked(0), Locked(KeyTrace(seed: 3)))
        let harness = RecordedLoader(
            Leaky(), over: FakeTransport { request, _ in Self.reply(to: request) },
            credentials: Credentials { _ in .token(Self.secrets(number.withLock { $0 })[0]) }
        ) {
            $0.hosts.allowed = ["a.example"]
            $0.tracing = .traceparent
            $0.observer = { event in recorded.withLock { $0.add(event) } }
        }
        var bundles: [Data] = []
        for exchange in 0..<Self.exchanges {
            number.withLock { $0 = exchange }
            let planted = Self.secrets(exchange)
            let spc = Data((planted[1] + String(repeating: planted[17], count: 20)).utf8)
            let key = "skd://u:\(planted[18])@host/token/\(planted[19])/\(exchange)?id=\(planted[19])#\(planted[18])"
            _ = await harness.answer(FakeKeyRequest(KeyURI(key)) { spc })
            // A bundle holds the latest exchanges alone.
            if exchange % 20 == 19 { try bundles.append(harness.loader.supportBundle()) }
        }
        var trace = recorded.withLock { $0 }
        var span = TraceSpan(.request, "GET media", from: Date(), for: .zero)
        let planted = Self.secrets(1)
        let asked = RecordedRequest(
            method: "GET",
            url:
                "https://u:\(planted[2])@cdn.example/hdntl=exp=1~hmac=\(planted[3])/a.mp4;sig=\(planted[4])?\(planted[3])",
            headers: [("Cookie", planted[6])], body: Data(planted[7].utf8))
        let came = HTTPReply(status: 200, headers: [("ETag", planted[14])], body: Data(planted[15].utf8))
        span.exchange = RecordedExchange(asked, came)
        trace.add(span)
        let forbidden = SecretWindows((0..<Self.exchanges).flatMap(Self.secrets))
        #expect(forbidden.isFound(in: Data("xx\(Self.secrets(9)[4])".utf8)))
        #expect(forbidden.isFound(in: Data("xx\(Self.secrets(9)[4])y".utf8).base64EncodedData()))
        #expect(trace.exchanges.count > Self.exchanges)
        for format in KeyTrace.Format.allCases {
            let file = trace.data(as: format)
            #expect(file.count > 100_000)
            #expect(!forbidden.isFound(in: file), "\(format)")
        }
        #expect(bundles.count == Self.exchanges / 20)
        for bundle in bundles {
            #expect(bundle.count > 20_000)
            for entry in try ZipArchive(reading: bundle).entries {
                #expect(!forbidden.isFound(in: entry.data), "\(entry.name)")
            }
        }
    }
}
