import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensees

/// A licensee's module against a stand-in that was written from the public facts alone; it says nothing about Apple's code.
@Suite(
    .timeLimit(.minutes(10)), .enabled(if: BuiltLibrary.canRunModule, "there is no C compiler or no latchkey-server"))
struct LicenseeModuleTests {
    private let folder: TemporaryFolder
    private let stage = LicenseeStage.small
    /// The outcomes that were observed, and the number of restarts.
    private let seen = Locked<(kinds: [ModuleFailure.Kind?], restarts: Int)>(([], 0))

    init() throws {
        folder = try TemporaryFolder()
        try stage.credentials.write(to: folder.file("module"))
    }

    private func module(
        workers: Int = 2, milliseconds: Int = 20_000,
        _ change: (inout LicenseeConfiguration.Module) -> Void = { _ in }, post: ModulePost? = nil
    ) throws -> LicenseeModule {
        var configuration = LicenseeConfiguration.Module()
        configuration.library = try BuiltLibrary.module([])
        configuration.program = BuiltLibrary.server
        configuration.credentials = "module"
        (configuration.workers, configuration.milliseconds) = (workers, milliseconds)
        change(&configuration)
        return try LicenseeModule(
            configuration, in: SecretPlaces(folder: folder.url), post: post,
            ModuleObserver { [seen] kind, _ in
                seen.withLock { $0.kinds.append(kind) }
            } restarted: { [seen] in
                seen.withLock { $0.restarts += 1 }
            })
    }

    private static func uri(_ mode: String) -> String { "skd://\(mode)/1" }

    /// Asks for a CKC, and opens it with the device.
    private func license(
        _ module: LicenseeModule, _ mode: String = "movie", terms: LicenseTerms = LicenseTerms(),
        isStated: Bool = false,
        seed: UInt64 = 1
    ) async throws -> DeviceKey {
        let exchange = try stage.exchange(for: ContentIdentifier(Self.uri(mode)), seed: seed)
        let ckc = try await module.ckc(
            for: exchange.spc.revealed, assetID: ContentIdentifier(Self.uri(mode)), isStated: isStated, contentID: mode,
            key: #require(LicenseeStage.content), terms: terms)
        return try exchange.open(ckc.revealed)
    }

    private func failure(_ module: LicenseeModule, _ mode: String) async throws -> ModuleFailure? {
        do {
            _ = try await license(module, mode)
            return nil
        } catch let error as ModuleFailure { return error }
    }

    @Test func `a device opens the module's CKC, with the key, the lease and the IV of the template`() async throws {
        let module = try module {
            $0.members = MemberTemplate(
                members: ["lease-duration": .text("{leaseSeconds}"), "x-iv": .text("{iv}")])
        }
        #expect(module.version == "stand-in 1")
        let key = try await license(module, terms: LicenseTerms(.lease(.seconds(90))))
        #expect(key.contentKey == LicenseeStage.content)
        #expect(key.terms.validity == .lease(.seconds(90)))
        #expect(seen.withLock { $0.kinds } == [nil])
    }

    @Test func `the module reads the asset of an SPC that only it can open`() async throws {
        var spc = try stage.exchange(for: "skd://movie/1").spc.revealed
        spc[3] = 3
        #expect(try await module().assetID(of: spc) == "skd://movie/1")
    }

    @Test(arguments: [
        ("crash", ModuleFailure.Kind.crashed, 1), ("garbage", .garbage, 1), ("none", .garbage, 1),
        ("noid", .garbage, 1),
        ("nockc", .incomplete, 0), ("wrong", .wrongEcho, 0), ("big", .oversized, 1), ("status-42601", .failed, 0),
    ])
    func `a failure costs the request, and the next one is answered`(
        _ mode: String, _ kind: ModuleFailure.Kind, _ restarts: Int
    ) async throws {
        let module = try module(workers: 1)
        #expect(try await failure(module, mode)?.kind == kind)
        #expect(try await license(module).contentKey.key == LicenseeStage.content?.key)
        #expect(seen.withLock { $0.kinds } == [kind, nil])
        #expect(seen.withLock { $0.restarts } == restarts)
    }

    @Test func `another asset than the client named is the client's fault`() async throws {
        let module = try module(workers: 1)
        let error = await #expect(throws: ModuleFailure.self) { _ = try await license(module, "wrong", isStated: true) }
        #expect(error?.kind == .otherAsset && seen.withLock { $0.kinds } == [.otherAsset])
    }

    @Test func `a module that hangs is ended after its time, and replaced`() async throws {
        let module = try module(workers: 1, milliseconds: 10_000)
        #expect(try await failure(module, "hang")?.kind == .timedOut)
        #expect(try await license(module).contentKey.key == LicenseeStage.content?.key)
    }

    @Test func `a library that prints does not disturb its answers`() async throws {
        #expect(try await failure(module(), "print") == nil)
    }

    @Test(arguments: [
        (-42580, "unsupportedVersion"), (-42581, "malformedContainer"), (-42583, "missingTag"),
        (-42590, "protocolVersion"), (-42591, "duplicateTag"), (-42585, "moduleFailed"), (-42586, "moduleFailed"),
        (-42589, "moduleFailed"), (-42601, "moduleFailed"), (-42604, "moduleFailed"), (-42605, "moduleFailed"),
        (-42612, "moduleFailed"), (7, "moduleFailed"),
    ])
    func `each status has its code, and the client's faults have our KSM's codes`(_ status: Int, _ code: String) {
        let failure = ModuleFailure(status: status)
        #expect(failure.code == code)
        #expect((failure.refusal == nil) == (code == "moduleFailed"))
        #expect(failure.reason.contains("\(status)"))
    }

    @Test func `a hundred crashes and hangs under load lose one request each, and no CKC is wrong`() async throws {
        let module = try module(workers: 8, milliseconds: 5_000)
        let outcomes = await withTaskGroup(of: [String].self) { group in
            for client in 0..<50 {
                group.addTask {
                    var outcomes: [String] = []
                    for number in 0..<20 {
                        let mode = number % 10 > 0 ? "movie" : client % 5 > 0 ? "crash" : "hang"
                        do {
                            let key = try await license(module, mode, seed: UInt64(client * 100 + number + 1))
                            outcomes.append("\(mode) \(key.contentKey.key == LicenseeStage.content?.key)")
                        } catch {
                            outcomes.append("\(mode) \((error as? ModuleFailure)?.kind.rawValue ?? "\(error)")")
                        }
                    }
                    return outcomes
                }
            }
            return await group.reduce(into: [:] as [String: Int]) { counts, some in
                for one in some { counts[one, default: 0] += 1 }
            }
        }
        #expect(outcomes == ["movie true": 900, "crash crashed": 80, "hang timedOut": 20])
        #expect(seen.withLock { $0.restarts } >= 100)
    }

    @Test func `the processes end with the module`() async throws {
        let copy = folder.path("own.so")
        try FileManager.default.copyItem(atPath: BuiltLibrary.module([]), toPath: copy)
        func workers() -> Int {
            let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
            return numbers.count { number in
                let line = try? Data(contentsOf: URL(filePath: "/proc/\(number)/cmdline"))
                return line.map { String(decoding: $0, as: UTF8.self).contains(copy) } ?? false
            }
        }
        var held: LicenseeModule? = try module(workers: 1) { $0.library = copy }
        _ = try await license(#require(held))
        #expect(workers() == 1)
        held = nil
        while workers() > 0 { await Task.yield() }
    }

    @Test(arguments: [
        (["NO_DISPOSE"], "module", "fpsDisposeResponse"), (["CRASHES_AT_LOAD"], "module", "ended"),
        ([], "gone", "gone"),
    ])
    func `a module that cannot be used is a problem at the start`(
        _ macros: [String], _ credentials: String, _ words: String
    ) throws {
        var configuration = LicenseeConfiguration()
        var stated = LicenseeConfiguration.Module()
        stated.library = try BuiltLibrary.module(macros)
        (stated.program, stated.credentials) = (BuiltLibrary.server, credentials)
        configuration.module = stated
        let error = #expect(throws: LicenseeError.self) {
            try LicenseeSetup(configuration, folder: folder.url, at: Date())
        }
        #expect(error?.problems.map(\.place) == ["module"])
        #expect(error?.reason.contains(words) == true)
    }

    @Test func `credentials that others can read are refused`() throws {
        try #require(chmod(folder.path("module/ask.hex"), 0o644) == 0)
        let error = #expect(throws: LicenseeError.self) { try module() }
        #expect(error?.kind == .openToOthers)
    }

    @Test func `the self-test compares the asset, and passes without one`() async throws {
        let spc = try stage.exchange(for: ContentIdentifier(Self.uri("movie"))).spc.revealed
        try spc.write(to: folder.file("test.spc"))
        func tested(_ assetID: String) throws -> LicenseeModule {
            try module {
                var test = LicenseeConfiguration.SelfTest()
                (test.spc, test.assetID) = ("test.spc", assetID)
                $0.selfTest = test
            }
        }
        try await tested(Self.uri("movie")).selfTest()
        try await module().selfTest()
        let error = await #expect(throws: ModuleFailure.self) { try await tested(Self.uri("other")).selfTest() }
        #expect(error?.reason.contains("skd://movie/1") == true)
    }

    /// Run with `LATCHKEY_MEASURE=1`; `Documentation/Licensees.md` §6 has figures.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["LATCHKEY_MEASURE"] != nil, "LATCHKEY_MEASURE is not set"))
    func `licenses a second, by our KSM and by a module`() async throws {
        let (own, content) = (
            KeyServerModule(credentials: [stage.credential], derivation: InsecureTestDerivation()),
            try #require(LicenseeStage.content)
        )
        let spc = try stage.exchange(for: ContentIdentifier(Self.uri("movie"))).spc.revealed
        var lines = ""
        for clients in [1, 2, 16] {
            let module = try module()
            let direct = try await rate(clients) {
                var generator = SystemRandomNumberGenerator()
                _ = try own.contentKeyContext(
                    for: own.open(spc), key: content, terms: LicenseTerms(), using: &generator)
            }
            let asked = try await rate(clients) {
                _ = try await module.ckc(
                    for: spc, assetID: "skd://movie/1", isStated: false, contentID: "movie", key: content,
                    terms: LicenseTerms())
            }
            lines +=
                "\(clients) clients: our KSM \(Int(direct))/s, a module \(Int(asked))/s, \(Int(100 * asked / direct)) %\n"
        }
        FileHandle.standardError.write(Data(lines.utf8))
    }

    private func rate(_ clients: Int, _ work: @escaping @Sendable () async throws -> Void) async throws -> Double {
        let begin = ContinuousClock.now
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<clients {
                group.addTask {
                    var count = 0
                    while ContinuousClock.now - begin < .seconds(3) {
                        try await work()
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return Double(counts) / ((ContinuousClock.now - begin) / .seconds(1))
    }

    // MARK: - A module behind a URL

    private func module(behind post: @escaping ModulePost) throws -> LicenseeModule {
        try module({ ($0.library, $0.credentials, $0.url) = (nil, nil, "http://127.0.0.1:8080/fps") }, post: post)
    }

    @Test func `a module behind a URL gets the same input and gives the same output`() async throws {
        let library = try module()
        let behind = try module(behind: { url, body, _ in
            #expect(url.absoluteString == "http://127.0.0.1:8080/fps")
            let item = JSONValue(body)?["fairplay-streaming-request"]?["create-ckc"]?.elements?.first
            let spc = try #require(item?["spc"]?.text.flatMap { Data(base64Encoded: $0) })
            let ck = try #require(item?["ck"]?.text.flatMap { Data(base64Encoded: $0) })
            let key = try #require(ContentKey(key: Secret(ck), iv: Secret([UInt8](repeating: 0, count: 16))))
            let assetID = try await library.assetID(of: spc)
            let ckc = try await library.ckc(
                for: spc, assetID: assetID, isStated: false, contentID: "", key: key, terms: LicenseTerms())
            let answer: JSONValue = .object([
                "id": item?["id"] ?? .null, "status": .number(0), "ckc": .text(ckc.revealed.base64EncodedString()),
                "asset-id": .text(assetID.description),
            ])
            let response = JSONValue.object(["create-ckc": .array([answer])])
            return (200, Data(JSONValue.object(["fairplay-streaming-response": response]).canonicalText.utf8))
        })
        #expect(try await license(behind).contentKey.key == LicenseeStage.content?.key)
    }

    @Test(
        arguments: [
            (500, #"{"fairplay-streaming-response":{"create-ckc":[{"id":1,"status":-42580}]}}"#, .garbage),
            (200, "<html>", .garbage), (nil, "", .unreachable),
        ] as [(Int?, String, ModuleFailure.Kind)])
    func `a URL that does not answer as a module is a failure`(
        _ status: Int?, _ body: String, _ kind: ModuleFailure.Kind
    ) async throws {
        let module = try module(behind: { _, _, _ in
            guard let status else { throw URLError(.cannotConnectToHost) }
            return (status, Data(body.utf8))
        })
        #expect(try await failure(module, "movie")?.kind == kind)
    }
}
