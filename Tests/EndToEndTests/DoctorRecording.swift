import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyTesting
@_spi(Adapters) @_spi(Integrations) import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeySupport
@testable import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The requests and replies of a live diagnosis.
struct DoctorRecording {
    /// The profile with the stage's settings, as for `--vendor` and `--set`.
    let profile: VendorProfile
    let exchanges: [RecordedExchange]
    /// The service's module, as for --credentials.
    let module: KeyServerModule
    /// The findings of the live diagnosis.
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
        exchanges = recorder.exchanges
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

    /// The answer of `--har` about some of the traffic.
    /// - Parameter opening: whether the service's credentials are given.
    func diagnosis(of exchanges: [RecordedExchange], opening: Bool = false) -> TrafficDiagnosis {
        TrafficDiagnosis(TrafficCapture(exchanges), profile: profile, module: opening ? module : nil)
    }

    /// The answer of `--har` about the traffic as a file.
    func report(opening: Bool = false) async throws -> DoctorReport {
        let capture = try TrafficCapture(HTTPArchive.data(exchanges))
        #expect(capture.exchanges.count == exchanges.count)
        return await diagnosis(of: capture.exchanges, opening: opening).report()
    }

    /// The places of the exchanges without which no key is available, and their roles.
    func needed() async -> [(index: Int, role: TrafficRoles.Role)] {
        let exchanges = diagnosis(of: exchanges).exchanges
        let keys = exchanges.compactMap(\.reply).filter { $0.body.starts(with: Data("#EXTM3U".utf8)) }
            .compactMap { try? Playlist($0.body, context: PlaylistContext()) }.flatMap(\.fairPlayURIs)
        let roles = await TrafficRoles(profile, keys: keys)
        // A request that was refused and sent again proves nothing.
        return exchanges.enumerated().filter { ($0.element.reply?.status ?? 0) < 400 }
            .map { ($0.offset, roles.role(of: $0.element)) }
            .filter { [.playlist, .certificate, .lookup, .license, .session(.setup)].contains($0.1) }
    }
}

/// Sends requests, and itself answers those for the stage's files.
private final class Recorder: Transport {
    static let origin = "https://cdn.example/stream"

    private let base = SystemTransport()
    private let folder: URL
    private let made = Locked<[RecordedExchange]>([])

    init(folder: URL) { self.folder = folder }

    var exchanges: [RecordedExchange] { made.withLock { $0 } }

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
        made.withLock { $0.append(RecordedExchange(request, reply, code: nil, at: Date(), took: .zero)) }
    }
}
