import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyVendors
import Testing

@testable import Latchkey
@testable import LatchkeyCommandLine
@testable import LatchkeyDecision
@testable import LatchkeyDevice
@testable import LatchkeyFairPlay
@testable import LatchkeyHLS
@testable import LatchkeyMedia
@testable import LatchkeyPlayback
@testable import LatchkeyServices
@testable import LatchkeySupport
@testable import LatchkeyTerminal

/// The parts of an error that apps, scripts and support read: code, number, domain, remedy, JSON, exit status. They never change.
@Suite(.timeLimit(.minutes(5))) struct ErrorFormTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
        "../..")
    private static let golden = root.appendingPathComponent("Tests/Golden/errors.txt")

    @Test func `every error keeps its code, number, domain, remedy, JSON and exit status`() async throws {
        var lines: [String] = []
        for error in ErrorSamples.all { lines.append(try await Self.line(error)) }
        let text = lines.joined(separator: "\n") + "\n"
        if ProcessInfo.processInfo.environment["LATCHKEY_GOLDEN"] != nil {
            try Data(text.utf8).write(to: Self.golden)
        }
        let golden = try String(contentsOf: Self.golden, encoding: .utf8)
        let (known, found) = (golden.split(separator: "\n"), text.split(separator: "\n"))
        #expect(found.filter { !known.contains($0) } == [])
        #expect(known.filter { !found.contains($0) } == [])
    }

    @Test func `the page of errors lists all codes with their numbers`() throws {
        let page = try String(contentsOf: Self.root.appendingPathComponent("Documentation/Errors.md"), encoding: .utf8)
        let missing = ErrorSamples.all.filter { !($0 is any CataloguedError) || $0 is Diagnosis }
            .map { "| \($0.errorCode) | `\($0.code)` |" }.filter { !page.contains($0) }
        #expect(missing == [])
    }

    private static func line(_ error: any DiagnosableError) async throws -> String {
        let bridged = error as any Error as NSError
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var parts = ["\(error.code) \(bridged.domain) \(bridged.code)"]
        parts.append(
            "exit \(await RecordedRun("fail", tool: CommandLineTool.latchkey([Fail(error: error)])).status.rawValue)")
        if let number = ErrorSamples.systemNumber(error) { parts.append("system \(number)") }
        if let error = error as? ContentKeyError { parts.append("viewer \(error.viewerMessage?.rawValue ?? "-")") }
        parts.append(String(decoding: try encoder.encode(Failure(error)), as: UTF8.self))
        return parts.joined(separator: ", ")
    }

    private struct Fail: Verb {
        let error: any DiagnosableError
        var usage: Usage { Usage(name: "fail", summary: "fail") }
        func run(_ arguments: Arguments, _ console: Console) async throws -> LatchkeyTerminal.ExitStatus {
            throw error
        }
    }
}

/// One error of each code.
struct ErrorSamples {
    static let all: [any DiagnosableError] = {
        var samples = ErrorSamples()
        samples.addKeyErrors()
        samples.addStoredKeyErrors()
        samples.addKeyServerErrors()
        samples.addTokenErrors()
        samples.addDeviceErrors()
        samples.addStreamErrors()
        samples.addToolErrors()
        return samples.errors
    }()

    private var errors: [any DiagnosableError] = []

    private mutating func addKeyErrors() {
        let service = ServiceReply(status: 503, code: "7", message: "no", requestID: "r-1", retryAfter: 2)
        for kind in ContentKeyError.Kind.all {
            errors.append(ContentKeyError(kind, stage: .license, "Reason.", remedy: "Remedy."))
        }
        let own: [ContentKeyError] = [
            .cancelled, .noSPC, .sessionEnded, .sessionWithoutPlayer, .unsupported, .keyUnnamed, .notPersistable,
            .notStored, .nowhere, .sessionNotRenewed(within: .seconds(3)), .credentialsMissing(.seconds(3)),
            .deadlineExceeded(.seconds(3), stage: .spc, after: nil, attempts: 2),
        ]
        errors += own
        for kind in ContentKeyError.Kind.all where 200..<300 ~= kind.number {
            let error = IntegrationError(kind, "Reason.", service: service)
            errors += [IntegrationError(kind, "Reason."), error]
            errors.append(ContentKeyError(error, otherwise: .integrationFailed))
        }
        for kind in Self.network {
            errors.append(TransportError(kind, "Reason."))
            errors.append(ContentKeyError(TransportError(kind, "Reason."), otherwise: .integrationFailed))
        }
        for kind in [ContentKeyError.Kind.spcFailed, .credentialsFailed, .integrationFailed] {
            errors.append(ContentKeyError(Odd(), otherwise: kind))
        }
    }

    /// The kinds of the network; `playlistUnreadable` does not come from a transport.
    private static let network = ContentKeyError.Kind.all.filter { 300..<400 ~= $0.number && $0 != .playlistUnreadable }

    private struct Odd: Error {}

    private mutating func addStoredKeyErrors() {
        for kind in ContentKeyError.Kind.all where 400..<411 ~= kind.number {
            errors.append(OfflineError(kind, "Reason."))
            errors.append(ContentKeyError(OfflineError(kind, "Reason."), stage: .answer))
        }
    }

    private mutating func addKeyServerErrors() {
        for kind in CertificateError.Kind.allCases { errors.append(CertificateError(kind: kind, reason: "Reason.")) }
        errors.append(ContentKeyError(CertificateError(kind: .pem, reason: "R."), otherwise: .certificateMissing))
        errors.append(FormatError(kind: .malformed, offset: 3, what: "is odd"))
        errors.append(FormatError(kind: .duplicate, offset: 3, what: "is odd"))
        for text in ["", "base64", "{}", "<html>"] { add { try CKCContainer(Array(text.utf8)) } }
        for version: UInt8 in [1, 2] { add { try CKCContainer([0, 0, 0, version]) } }
        let derivation: [Diagnosis] = [.noApplicationSecret, .notTestCertificate, .wrongLength(3)]
        errors += derivation
        for kind in KSMRefusal.Kind.allCases { errors.append(KSMRefusal(kind, reason: "Reason.", remedy: "Remedy.")) }
        let keys = #"{"keys":[{"uri":"skd://a","keyId":"","key":"","iv":""}]}"#
        for json in ["{}", keys] { add { try ContentKeyStore(json: Data(json.utf8)) } }
    }

    private mutating func addTokenErrors() {
        for kind in TokenError.Kind.allCases { errors.append(TokenError(kind, "Reason.", remedy: "Remedy.")) }
        errors.append(KeySetError(TokenKeyID("k"), "it is odd"))
        let sets: [KeySetError] = [.tooLong(70_000), .unusable("Odd."), .unreachable("Odd.")]
        errors += sets
    }

    private mutating func addDeviceErrors() {
        let device: [DeviceError] = [
            .contentIdentifierMissing, .contentIdentifierLength(1), .noProtocolVersion, .wrongSPC("it is odd"),
            .returnedBlock(.r1, isMissing: true), .returnedBlock(.r1, isMissing: false), .noContentKey("none"),
            DeviceError(FormatError(kind: .badTerms, what: "odd")), .notPersistable(LicenseTerms(.unlimited)), .isACKC,
            .damaged("odd"), .foreign,
            .oldFormat(3), .superseded,
        ]
        errors += device
        let steps: [DeviceError.Step] = [.makingSPC, .openingCKC, .openingStoredKey]
        for step in steps { errors.append(DeviceError(OpenSSLError(in: "a"), step)) }
        do { _ = try CKCContainer([]) } catch { errors.append(DeviceError(error)) }
    }

    private mutating func addBundleErrors() {
        let plain = ZipArchive([.init("a", Data([1]))]).data
        var packed = plain
        packed[plain.count - 22 - 47 + 10] = 8
        let archives = [
            Data(), Data(count: ZipArchive.sizeLimit + 1), packed, ZipArchive([.init("../a", Data())]).data, plain,
            ZipArchive([.init("manifest.json", Data("{\"format\":2}".utf8))]).data,
        ]
        for archive in archives { add { try SupportBundle(archive) } }
        errors += [Diagnosis.bundleWithoutProfile, .recordingOff]
    }

    private mutating func addStreamErrors() {
        for kind in PlaylistError.Kind.allCases { errors.append(PlaylistError(kind, line: 3, "odd")) }
        let unreadable = PlaylistError(.notUTF8, "no")
        errors.append(ContentKeyError(unreadable, stage: .playlist, otherwise: .playlistUnreadable))
        let discovery: [Diagnosis] = [.tooManyPlaylists, .tooManyBytes, .tooDeep, .schemeNotAllowed]
        errors += discovery
        let playback: [Diagnosis] = [
            .keyMissing(KeyURI("skd://a")), .toolMissing("ffmpeg"), .toolFailed("odd"),
            .containerRefused("avi", "Odd."),
            .deadlineExceeded(.seconds(3)), .outputTooLarge(3), .resourceTooLarge("a", limit: 3),
            .resourceMissing("a"), .emptyStream("a"), .malformedPlaylist("odd"), .schemeNotAllowed("a"),
            .unsupportedContainer("a"), .wholeSegmentEncrypted("a"), .malformedMedia("odd"),
            .unsupportedSampleGroups("odd"),
            .malformedReference("odd"), .fileFailed("odd"), .outputFailed("a"),
        ]
        errors += playback
        errors.append(ProfileError(problems: [ProfileProblem(field: "$", reason: "It is not JSON.")]))
        addBundleErrors()
        for text in ["odd", "{}", "curl", "curl '"] { add { try TrafficCapture(Data(text.utf8)) } }
    }

    private mutating func addToolErrors() {
        let files: [FileError] = [
            .cannotRead("a", because: "odd"), .cannotWrite("a", because: "odd"), .exists("a"), .inputIsRead,
            .tooLarge("a", limit: 3), .notPlain("a", "It is a pipe, not a regular file"),
        ]
        errors += files
    }

    private mutating func add<Value>(_ body: () throws -> Value) {
        do { _ = try body() } catch let error as any DiagnosableError { errors.append(error) } catch {}
    }

    static func systemNumber(_ error: any DiagnosableError) -> Int? {
        switch error {
        case let error as KSMRefusal: error.operatorNumber
        case let error as DeviceError: error.systemNumber
        default: nil
        }
    }
}
