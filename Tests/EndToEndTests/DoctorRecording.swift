import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTesting
@_spi(Adapters) @_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What a live diagnosis asked and got, written as a browser writes HAR.
struct DoctorRecording {
    typealias Entry = [String: Any]

    /// The profile with the stage's settings, as `--vendor` and `--set` give it.
    let profile: VendorProfile
    let entries: [Entry]
    /// The service's module, as --credentials gives it.
    let module: KeyServerModule
    /// What the live diagnosis found.
    let live: DoctorReport

    /// Runs the diagnosis of a stage in this process, and writes down its traffic.
    init(_ stage: DoctorStage) async throws {
        let credentials = stage.settings.filter { stage.profile.credentialNames.contains($0.key) }
        profile = stage.profile.with(stage.settings.filter { credentials[$0.key] == nil })
        let recorder = Recorder(folder: stage.folder.file("stream"))
        let diagnosis = StreamDiagnosis(
            profile: profile, credentials: CredentialSet(credentials.mapValues { Secret($0) }),
            hosts: HostPolicy(loopback: stage.options.contains("--loopback-http") ? .http : .asGiven),
            player: try Self.player(stage.device), transport: recorder)
        let isAddress = WebResources.isAddress(stage.playlist)
        live = await diagnosis.report(
            on: isAddress ? stage.playlist : "\(Recorder.origin)/\(URL(filePath: stage.playlist).lastPathComponent)")
        entries = recorder.entries
        module = KeyServerModule(
            credentials: [try KeyServerCredential(directory: stage.folder.file("c"))],
            derivation: InsecureTestDerivation())
    }

    private static func player(_ device: [String]) throws -> StreamDiagnosis.Player {
        guard device.count == 2 else { return .none }
        if device[0] == "--spc" { return .recorded(try Data(contentsOf: URL(filePath: device[1])), key: nil) }
        let console = Console(output: Nowhere(), error: Nowhere(), showsProgress: false) { _ in Data() }
        let credentials = try DeviceCredentials(device[1], console)
        return .device(certificate: credentials.certificate, applicationSecret: credentials.secret)
    }

    private struct Nowhere: Sink {
        let failure: String? = nil
        func write(_ data: Data) {}
    }

    /// What `--har` says of some of the traffic.
    func diagnosis(of entries: [Entry], opening: Bool = false) throws -> TrafficDiagnosis {
        TrafficDiagnosis(try capture(of: entries), profile: profile, module: opening ? module : nil)
    }

    func capture(of entries: [Entry]) throws -> TrafficCapture {
        try TrafficCapture(JSONSerialization.data(withJSONObject: ["log": ["version": "1.2", "entries": entries]]))
    }

    /// - Parameter opening: whether the service's credentials are given.
    func report(on entries: [Entry], opening: Bool = false) async throws -> DoctorReport {
        try await diagnosis(of: entries, opening: opening).report()
    }

    /// The places of the exchanges without which no key can be had, and what they are for.
    func needed() async throws -> [(index: Int, role: TrafficRoles.Role)] {
        let exchanges = try diagnosis(of: entries).exchanges
        let keys = exchanges.compactMap(\.reply).filter { $0.body.starts(with: Data("#EXTM3U".utf8)) }
            .compactMap { try? Playlist($0.body, context: PlaylistContext()) }.flatMap(\.fairPlayURIs)
        let roles = await TrafficRoles(profile, keys: keys)
        // What was refused and asked for again proves nothing.
        return exchanges.enumerated().filter { ($0.element.reply?.status ?? 0) < 400 }
            .map { ($0.offset, roles.role(of: $0.element)) }
            .filter { [.playlist, .certificate, .lookup, .license, .session(.setup)].contains($0.1) }
    }
}

/// Sends requests, and answers those for the stage's files itself.
private final class Recorder: Transport {
    static let origin = "https://cdn.example/stream"

    private struct Made: @unchecked Sendable { var entries: [DoctorRecording.Entry] = [] }

    private let base = SystemTransport()
    private let folder: URL
    // Dictionaries of JSON are values that nobody shares.
    private let made = Locked(Made())

    init(folder: URL) { self.folder = folder }

    var entries: [DoctorRecording.Entry] { made.withLock { $0.entries } }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        let url = request.url?.absoluteString ?? ""
        do {
            let reply =
                url.hasPrefix(Self.origin)
                ? file(String(url.dropFirst(Self.origin.count + 1)))
                : try await base.send(request, bodyLimit: bodyLimit)
            add(request, reply)
            return reply
        } catch {
            add(request, nil)
            throw error
        }
    }

    private func file(_ name: String) -> HTTPReply {
        guard let data = try? Data(contentsOf: folder.appending(path: name)) else { return HTTPReply(status: 404) }
        return HTTPReply(status: 200, body: data)
    }

    private func add(_ request: URLRequest, _ reply: HTTPReply?) {
        func pairs(_ fields: [(name: String, value: String)]) -> [[String: String]] {
            fields.map { ["name": $0.name, "value": $0.value] }
        }
        var sent: DoctorRecording.Entry = [
            "method": request.httpMethod ?? "GET", "url": request.url?.absoluteString ?? "",
            "headers": pairs((request.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) }),
            "bodySize": request.httpBody?.count ?? 0,
        ]
        if let body = request.httpBody {
            sent["postData"] = ["mimeType": "", "text": body.base64EncodedString(), "encoding": "base64"]
        }
        let content: DoctorRecording.Entry = [
            "size": reply?.body.count ?? 0, "mimeType": "", "text": reply?.body.base64EncodedString() ?? "",
            "encoding": "base64",
        ]
        let came: DoctorRecording.Entry = [
            "status": reply?.status ?? 0, "headers": pairs(reply?.headers ?? []), "content": content,
        ]
        let entry: DoctorRecording.Entry = [
            "startedDateTime": Date().formatted(.iso8601), "request": sent, "response": came,
        ]
        made.withLock { $0.entries.append(entry) }
    }
}
