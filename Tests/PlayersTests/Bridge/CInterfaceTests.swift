import AVFoundation
import BuiltLibrary
import LatchkeyBridge
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import StandInEngine
import Testing

/// The arguments of C callbacks, behind the pointer that they take.
private final class CHost: Sendable {
    struct Seen {
        var requests: [UInt64] = []
        var outcomes: [String] = []
        var ends = 0
    }

    let seen = Locked(Seen())
    let ended = Promise<Void, Never>()
    /// The answer to requests; `nil` if they are not answered.
    let credentials: String?

    init(credentials: String?) { self.credentials = credentials }

    static func at(_ pointer: UnsafeMutableRawPointer?) -> CHost? {
        pointer.map { Unmanaged<CHost>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Keys whose end releases this object.
    func keys(_ configuration: String) -> UnsafeMutableRawPointer? {
        latchkeyKeysCreate(
            configuration, Unmanaged.passRetained(self).toOpaque(),
            { pointer, number, _ in
                guard let host = CHost.at(pointer) else { return }
                host.seen.withLock { $0.requests.append(number) }
                if let credentials = host.credentials { _ = latchkeyAnswer(number, credentials) }
            },
            { pointer, outcome in
                let text = String(cString: outcome)
                CHost.at(pointer)?.seen.withLock { $0.outcomes.append(text) }
            },
            { pointer in
                guard let pointer else { return }
                let host = Unmanaged<CHost>.fromOpaque(pointer).takeRetainedValue()
                host.seen.withLock { $0.ends += 1 }
                host.ended.resolve(.success(()))
            }, nil)
    }
}

/// The functions of `latchkey.h`.
@Suite(.timeLimit(.minutes(5))) struct CInterfaceTests {
    private func configuration(_ stage: PlayerStage) throws -> String {
        let stated: [String: Any] = ["profile": "drmtoday", "settings": stage.configured(.drmToday).settings]
        return String(decoding: try JSONSerialization.data(withJSONObject: stated), as: UTF8.self)
    }

    private func json(_ texts: [String: String]) throws -> String {
        String(decoding: try JSONEncoder().encode(texts), as: UTF8.self)
    }

    @Test func `a stream plays, and nothing is called after the end`() async throws {
        try await PlayerStage.with { stage in
            let host = CHost(credentials: try json(stage.token(for: .drmToday)))
            let keys = try #require(host.keys(try configuration(stage)))
            let asset = AVURLAsset(url: stage.playlist(for: .drmToday))
            latchkeyKeysProtect(keys, Unmanaged.passUnretained(asset).toOpaque(), "movie-1")
            let result = try await AVApp.play(asset)
            #expect(result.isRight)
            latchkeyKeysRelease(keys, Unmanaged.passUnretained(asset).toOpaque())
            latchkeyKeysFree(keys)
            try await host.ended.value
            let seen = host.seen.withLock { $0 }
            #expect(seen.ends == 1)
            #expect(seen.outcomes.contains { $0.contains(#""code":"succeeded""#) })
            #expect(!seen.outcomes.contains { $0.contains(#""kind":"failure""#) })
            #expect(seen.requests.allSatisfy { latchkeyAnswer($0, "{}") == 0 && latchkeyRefuse($0, nil) == 0 })
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test(arguments: ["no JSON", #"{"token": 1}"#])
    func `unreadable credentials fail the key`(_ credentials: String) async throws {
        try await PlayerStage.with { stage in
            let host = CHost(credentials: credentials)
            let keys = try #require(host.keys(try configuration(stage)))
            let asset = AVURLAsset(url: stage.playlist(for: .drmToday))
            latchkeyKeysProtect(keys, Unmanaged.passUnretained(asset).toOpaque(), nil)
            await #expect(throws: NSError.self) { try await AVApp.play(asset) }
            latchkeyKeysFree(keys)
            try await host.ended.value
            #expect(host.seen.withLock { $0.outcomes }.contains { $0.contains("JSON cannot be read") })
        }
    }

    @Test(arguments: ["", "{}", #"{"profile":"nobody"}"#, #"{"profile":"drmtoday-customdata"}"#])
    func `an unusable configuration is refused, and the host's pointer is returned`(
        _ configuration: String
    ) async throws {
        let host = CHost(credentials: nil)
        #expect(host.keys(configuration) == nil)
        try await host.ended.value
        #expect(host.seen.withLock { $0.ends } == 1)
    }

    @Test func `null keys or a null asset do nothing`() {
        latchkeyKeysProtect(nil, nil, nil)
        latchkeyKeysRelease(nil, nil)
        latchkeyKeysReleaseAll(nil)
        latchkeyKeysSuspend(nil)
        latchkeyKeysResume(nil)
        latchkeyKeysReplaceSession(nil)
        latchkeyKeysReportEvents(nil)
        latchkeyKeysFree(nil)
        latchkeyTextFree(nil)
        #expect(latchkeyKeysPreload(nil, "skd://a/b", nil) == 0)
        #expect(latchkeyKeysRenewEnded(nil) == 0)
    }

    /// The program next to the tests; `nil` if it was not built.
    private static let program: String? = {
        var folder = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath().deletingLastPathComponent()
        for _ in 0..<4 {
            let file = folder.appending(path: "BridgeProgram").path
            if FileManager.default.isExecutableFile(atPath: file) { return file }
            folder.deleteLastPathComponent()
        }
        return nil
    }()

    @Test(.enabled(if: program != nil, "BridgeProgram was not built"))
    func `a program in C gets its failure, and its end once`() throws {
        let lines = try Command.run(Self.program ?? "", []).split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("error: ") && $0.contains(#""code":"unknownIntegration""#) })
        #expect(lines.contains("refused: end 1"))
        let failure = try #require(lines.first { $0.hasPrefix("host: {") })
        #expect(failure.contains(#""code":"insecureURL""#) && failure.contains(#""title":"movie-1""#))
        #expect(failure.contains(#""remedy":"#))
        #expect(lines.contains { $0.hasPrefix("host asks: {") && $0.contains(#""reason":"certificate""#) })
        #expect(lines.last == "host: end 1")
    }
}
