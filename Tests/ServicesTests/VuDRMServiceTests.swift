import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import LatchkeyTesting
import Testing

@Suite(.timeLimit(.minutes(5))) struct VuDRMServiceTests {
    @Test(arguments: [(299, ["renewal"]), (300, [])])
    func `a renewal sooner than the vendor's SDK allows gets a warning`(
        _ seconds: Int, _ warnings: [String]
    ) async throws {
        try await withStage(vuDRM: { $0.shortestRenewal = .seconds(300) }) { stage in
            let session = PlaybackSessionID(rawValue: 1)
            for options in [SPCOptions.renewing(in: session), .renewing(in: PlaybackSessionID(rawValue: 2))] {
                try await stage.takeLicense(options)
            }
            #expect(stage.vuDRM.warnings.isEmpty)
            stage.time.advance(by: .seconds(seconds))
            try await stage.takeLicense(.renewing(in: session))
            #expect(stage.vuDRM.warnings.map(\.code) == warnings)
        }
    }

    @Test func `a first license is not a renewal, even soon`() async throws {
        try await withStage(vuDRM: { $0.shortestRenewal = .seconds(300) }) { stage in
            var options = SPCOptions()
            options.playbackSession = PlaybackSessionID(rawValue: 1)
            for _ in 0..<2 { try await stage.takeLicense(options) }
            #expect(stage.vuDRM.warnings.isEmpty)
        }
    }

    @Test func `every request id is unique`() async throws {
        try await withStage { stage in
            let one = try await stage.send("GET", "/vudrm/certificate/demo-client").headers["x-request-id"]
            let other = try await stage.send("GET", "/vudrm/certificate/demo-client").headers["x-request-id"]
            #expect(one != other)
        }
    }

    // With one token per license, a stream's second key was refused if both were requested within a second.
    @Test func `no two tokens are equal, as each may be good for one license only`() async throws {
        try await withStage { stage in #expect(stage.vuDRM.demoToken() != stage.vuDRM.demoToken()) }
    }

    // A single request with such a token ended the server: no `Duration` holds the number (findings S1).
    @Test(
        arguments: ["duration_lease", "duration_rental", "duration_persist"],
        [
            "9223372036854775807", "9223372036854775808", "1e300", #""9223372036854775808""#, #""1e300""#, #""inf""#,
            #""infinity""#, #""-inf""#, #""nan""#, #""0x1p9999""#, "-1", "-1e300", "0", "1e-300",
        ])
    func `a policy's time of any size gets a license, and so does the next request`(
        _ name: String, _ number: String
    ) async throws {
        try await withStage { stage in
            let type = ["duration_lease": "l", "duration_rental": "r"][name] ?? "p"
            let policy = Data(#"{"type":"\#(type)","\#(name)":\#(number)}"#.utf8).base64EncodedString()
            let odd = "demo-client|2026-01-01T00:00:00Z|\(policy)|\(String(repeating: "0", count: 40))"
            for token in [odd, stage.vuDRM.demoToken().revealedText] {
                let status = try await stage.license(token).status
                #expect(status == 200)
            }
        }
    }
}

extension Stage {
    /// A license for the video key in the raw dialect.
    fileprivate func license(_ token: String, _ options: SPCOptions = SPCOptions()) async throws -> Reply {
        var generator = SystemRandomNumberGenerator()
        let exchange = try device.exchange(for: "video", options: options, using: &generator)
        let headers = ["Content-Type": "application/octet-stream", "x-vudrm-token": token]
        return try await send("POST", "/vudrm/license/video", headers, exchange.spc.revealed)
    }

    fileprivate func takeLicense(_ options: SPCOptions) async throws {
        #expect(try await license(vuDRM.demoToken().revealedText, options).status == 200)
    }
}
