import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeyServer
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTerminal
import LatchkeyVendors

/// Plays one encrypted stream through each vendor's profile against the vendor's emulated service.
struct Demonstration: Sendable {
    private let stage: DemoStage

    var bench: TestBench { stage.bench }

    /// What came of one row.
    struct Row: Sendable {
        let profile: VendorProfile
        let asset: DemoAsset
        let picture: URL
        let outcome: Result<StreamReport, any Error>

        var isRight: Bool { (try? outcome.get().isRight) ?? false }
    }

    init(on stage: DemoStage) { self.stage = stage }

    /// One profile for each service: the one of its name, else its first.
    var profiles: [VendorProfile] {
        var shown: Set<ServiceIdentifier> = []
        let named = Set(VendorProfile.all.map(\.identifier))
        return VendorProfile.all.filter { profile in
            guard let service = bench.service(forProfile: profile.identifier)?.identifier else { return false }
            let isShown = !named.contains("\(service)") || profile.identifier == "\(service)"
            return isShown && shown.insert(service).inserted
        }
    }

    /// The stream of a row: each in turn, but one with a single key for a vendor whose requests name no key.
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
        return Row(profile: profile, asset: asset, picture: picture, outcome: outcome)
    }

    private func report(_ profile: VendorProfile, _ asset: DemoAsset, _ picture: URL) async throws -> StreamReport {
        guard let service = bench.service(forProfile: profile.identifier) else {
            throw UsageError("there is no service for \(profile.identifier).")
        }
        let parameters = service.parameters(at: bench.mount(of: service))
        let credentials = Credentials { _ in CredentialSet(["token": service.demoToken()]) }
        let names = Set(profile.parameters.map(\.name))
        let loader = ContentKeyLoader(
            try profile.configured(parameters.filter { names.contains($0.key) }), credentials: credentials,
            configuration: LoaderConfiguration(hosts: HostPolicy(loopback: .http)))
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
            let line = DemoLine(
                requests: report.requests.count, timeToKey: report.timeToKey, frames: report.frameCount,
                picture: picture, isRight: report.isRight)
            return "\(name)  \(stream)  \(line.text)"
        }
    }
}
