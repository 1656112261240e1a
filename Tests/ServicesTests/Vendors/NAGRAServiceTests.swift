import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct NAGRAServiceTests {
    @Test func `a space inside a token damages it`() async throws {
        try await withService(NAGRAService.init) { stage in
            let token = stage.service.demoToken().revealedText
            let dot = try #require(token.lastIndex(of: "."))
            for place in [token.index(dot, offsetBy: 4), dot, token.index(before: token.endIndex)] {
                var damaged = token
                damaged.insert(" ", at: place)
                let status = try await stage.license(try stage.spc(), damaged).status
                #expect((400..<500).contains(status), "\(status): \(damaged)")
            }
        }
    }
}

extension ServiceStage<NAGRAService> {
    /// The decoded key URI of the video key.
    var identifier: String { String(decoding: Data(base64Encoded: keyURI.remainder) ?? Data(), as: UTF8.self) }

    func spc() throws -> Data { try exchange(identifier).spc.revealed }

    /// A license request; the tokens are the header's.
    func license(_ spc: Data, _ tokens: String, _ headers: [String: String] = [:], query: String = "") async throws
        -> Reply
    {
        let usual = [
            "Accept": "application/json", "Content-Type": "application/octet-stream", "nv-authorizations": tokens,
        ]
        return try await send(
            "POST", "/DEMO/fpls/contentlicenseservice/v1/licenses\(query)", usual.merging(headers) { $1 }, spc)
    }
}
