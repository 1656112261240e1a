import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

/// Plays one encrypted stream through each vendor's profile against the vendor's emulated service.
struct Demonstration: Sendable {
    private let stage: DemoStage
    private let recorder: TraceRecorder

    var bench: TestBench { stage.bench }

    /// The result of one row.
    struct Row: Sendable {
        let profile: VendorProfile
        let asset: DemoAsset
        let picture, page: URL
        let outcome: Result<StreamReport, any Error>
        let trace: KeyTrace

        var isRight: Bool { (try? outcome.get().isRight) ?? false }
    }

    /// - Parameter recorder: records what happens.
    init(on stage: DemoStage, _ recorder: TraceRecorder = TraceRecorder()) {
        (self.stage, self.recorder) = (stage, recorder)
    }

    /// One profile for each service: the one with its name, else its first.
    var profiles: [VendorProfile] {
        var shown: Set<ServiceIdentifier> = []
        let named = Set(VendorProfile.all.map(\.identifier))
        return VendorProfile.all.filter { profile in
            guard let service = bench.service(forProfile: profile.identifier)?.identifier else { return false }
            let isShown = !named.contains("\(service)") || profile.identifier == "\(service)"
            return isShown && shown.insert(service).inserted
        }
    }

    /// The stream of a row: all in turn, but a stream with a single key for a vendor whose requests name no key.
    static func asset(for profile: VendorProfile, row: Int) -> DemoAsset {
        if case .fixed = profile.contentIdentifierRule { return .transportStream }
        return DemoAsset.allCases[row % DemoAsset.allCases.count]
    }

    /// Plays a stream through a profile.
    func play(_ profile: VendorProfile, _ asset: DemoAsset) async -> Row {
        let picture = stage.output.appending(path: "\(profile.identifier).png")
        let outcome: Result<StreamReport, any Error>
        do {
            outcome = .success(try await report(profile, asset, picture))
        } catch {
            outcome = .failure(error)
        }
        if case .success(let report) = outcome, let (start, length) = report.decoding {
            var span = TraceSpan(.work, "decryption and decoding", from: start, for: length)
            span.owner = profile.name
            recorder.add(span)
        }
        return Row(
            profile: profile, asset: asset, picture: picture, page: stage.page, outcome: outcome,
            trace: recorder.trace.part(of: profile.name))
    }

    private func report(_ profile: VendorProfile, _ asset: DemoAsset, _ picture: URL) async throws -> StreamReport {
        guard let service = bench.service(forProfile: profile.identifier) else {
            throw UsageError("there is no service for \(profile.identifier).")
        }
        let parameters = service.parameters(at: bench.mount(of: service), for: profile.identifier)
        let credentials = Credentials { _ in CredentialSet(["token": service.demoToken()]) }
        let names = Set(profile.parameters.map(\.name))
        let configuration = LoaderConfiguration(hosts: HostPolicy(loopback: .http))
        let loader = ContentKeyLoader(
            try profile.configured(parameters.filter { names.contains($0.key) }), credentials: credentials,
            configuration: recorder.observing(configuration, as: profile.name))
        defer { loader.cancel() }
        return try await SimulatedPlayer(loader: loader, applicationSecret: stage.credentials.applicationSecret).play(
            bench.media("\(asset.rawValue)/master.m3u8", through: service), with: stage.ffmpeg, picture: picture,
            reference: stage.reference)
    }
}

extension Demonstration.Row {
    private static let assetWidth = DemoAsset.allCases.map(\.rawValue.count).max() ?? 0

    /// The row as the demonstration prints it.
    func text(nameWidth: Int) -> String {
        let name = profile.name.padding(toLength: nameWidth, withPad: " ", startingAt: 0)
        switch outcome {
        case .failure(let error): return "\(name)  \(Failure(error).text)"
        case .success(let report):
            if let failure = report.failure { return "\(name)  \(Failure(failure).text)" }
            let stream = asset.rawValue.padding(toLength: Self.assetWidth, withPad: " ", startingAt: 0)
            return "\(name)  \(stream)  \(line(report).text)"
        }
    }

    /// The row as the page shows it.
    var forPage: DemoPage.Row {
        let about = "stream \(asset.rawValue)"
        switch outcome {
        case .success(let report) where report.failure == nil:
            return DemoPage.Row(profile.name, about, line(report), problem: nil, trace)
        case .success(let report):
            return DemoPage.Row(profile.name, about, nil, problem: report.failure.map { TraceProblem($0) }, trace)
        case .failure(let error): return DemoPage.Row(profile.name, about, nil, problem: TraceProblem(error), trace)
        }
    }

    private func line(_ report: StreamReport) -> DemoLine {
        DemoLine(
            requests: report.requests.count, timeToKey: report.timeToKey, frames: report.frameCount,
            picture: picture, page: page, isRight: report.isRight)
    }
}
