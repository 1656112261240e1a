import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import Testing

@testable import LatchkeyDemo

/// The applications of `Examples` on the demonstration's services.
@Suite(.timeLimit(.minutes(5))) @MainActor struct PlayerDemonstrationTests {
    private let folder: TemporaryFolder
    private let stage: DemoStage
    private let demonstration: PlayerDemonstration

    init() throws {
        folder = try TemporaryFolder()
        let exchanges = ExchangeWatch()
        stage = try DemoStage(output: folder.url) { exchanges.note($0) }
        demonstration = PlayerDemonstration(on: stage, exchanges)
    }

    /// Every form of every document, by its picture.
    nonisolated static let pictures = [
        "vudrm", "vudrm-4", "cloud-drm", "cloud-drm-present", "azure", "own-integration", "nagra", "nagra-enforced",
        "expressplay", "expressplay-entitlement", "expressplay-onpremise",
    ]

    @Test func `five documents, each with its own form first`() {
        #expect(DemoDocument.all.map(\.title).count == 5)
        #expect(DemoDocument.all.flatMap { $0.forms.map(\.picture) } == Self.pictures)
    }

    @Test(arguments: pictures) func `a form of a document plays right, and leaves its picture`(
        _ picture: String
    ) async throws {
        let form = try #require(DemoDocument.all.flatMap(\.forms).first { $0.picture == picture })
        let (_, text, isRight) = await demonstration.play(form, of: try #require(DemoDocument.all.first))
        #expect(isRight, "\(text)")
        #expect(text.contains("150 frames decoded"))
        switch form.keepAlive {
        case nil: #expect(text.contains(" ms   150"))
        case .heartbeats: #expect(text.contains("3 heartbeats in 1 min 30 s of virtual time"))
        case .renewals: #expect(text.contains("3 renewals in 1 min 30 s of virtual time"))
        }
        let image = try Data(contentsOf: stage.output.appending(path: "\(picture).png"))
        #expect(image.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        await stage.bench.host.stop(within: .seconds(1))
    }

    @Test(arguments: 0..<5) func `a refusal is the row's text, with the service's reason and without a secret`(
        _ number: Int
    ) async throws {
        let form = try #require(DemoDocument.all.dropFirst(number).first?.forms.first)
        let service = try #require(stage.bench.host.services.first { $0.identifier == form.service })
        service.faults.set(.status(403), at: .license)
        let (_, text, isRight) = await demonstration.play(form, of: try #require(DemoDocument.all.first))
        #expect(!isRight)
        #expect(text.contains("403") && text.contains("(forbidden)"), "\(text)")
        #expect(!text.contains("eyJ") && !text.contains("demo-client|"))
        await stage.bench.host.stop(within: .seconds(1))
    }

    @Test func `a vendor's own words stand in the row of an app that speaks to its service itself`() async throws {
        let form = try #require(DemoDocument.all.flatMap(\.forms).first { $0.picture == "nagra" })
        let service = try #require(stage.bench.host.services.first { $0.identifier == "nagra" })
        service.faults.set(.refusal(code: "1007", status: 400), at: .license)
        let (_, text, _) = await demonstration.play(form, of: try #require(DemoDocument.all.first))
        #expect(text.contains("1007") && !text.contains("integrationFailed"), "\(text)")
        await stage.bench.host.stop(within: .seconds(1))
    }
}
