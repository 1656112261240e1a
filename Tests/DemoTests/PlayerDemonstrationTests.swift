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

    private static func document(of form: DemoDocument.Form) throws -> DemoDocument {
        try #require(DemoDocument.all.first { $0.forms.contains { $0.picture == form.picture } })
    }

    /// Every form of every document, by its picture.
    nonisolated static let pictures = [
        "vudrm", "vudrm-4", "cloud-drm", "cloud-drm-present", "azure", "theo-vudrm", "theo-uplynk", "theo-ezdrm",
        "theo-verimatrix", "theo-keyos", "theo-titanium", "theo-titanium-device", "own-integration", "nagra",
        "nagra-enforced", "nagra-ssp", "expressplay",
        "expressplay-entitlement", "expressplay-token-server", "expressplay-onpremise",
    ]

    @Test func `five documents, each with its own form first`() {
        #expect(DemoDocument.all.map(\.title).count == 5)
        #expect(DemoDocument.all.flatMap { $0.forms.map(\.picture) } == Self.pictures)
    }

    @Test(arguments: pictures) func `a form of a document plays right, and leaves its picture`(
        _ picture: String
    ) async throws {
        let form = try #require(DemoDocument.all.flatMap(\.forms).first { $0.picture == picture })
        let (row, text, isRight) = try await demonstration.play(form, of: Self.document(of: form))
        #expect(isRight, "\(text)")
        #expect(text.contains("150 frames decoded") && text.contains("index.html"))
        var page = DemoPage()
        page.add(row)
        let html = String(decoding: page.data, as: UTF8.self)
        for words in [
            "1 of 1 right", "data:image/png;base64,iVBORw0KGgo", "decryption and decoding", "every sample is right",
        ] {
            #expect(html.contains(words), "\(words)")
        }
        #expect(!html.contains("src=\"http") && !html.contains("<script"))
        switch form.keepAlive {
        case nil: #expect(text.contains(" ms   150"))
        case .heartbeats: #expect(text.contains("3 heartbeats in 1 min 30 s of virtual time"))
        case .renewals: #expect(text.contains("3 renewals in 1 min 30 s of virtual time"))
        }
        let image = try Data(contentsOf: stage.output.appending(path: "\(picture).png"))
        #expect(image.starts(with: [0x89, 0x50, 0x4e, 0x47]))
        await stage.bench.host.stop(within: .seconds(1))
    }

    @Test(arguments: 0..<5) func `a refusal is the row's text, with the service's reason but no secret`(
        _ number: Int
    ) async throws {
        let form = try #require(DemoDocument.all.dropFirst(number).first?.forms.first)
        let service = try #require(stage.bench.host.services.first { $0.identifier == form.service })
        service.faults.set(.status(403), at: .license)
        let (row, text, isRight) = try await demonstration.play(form, of: Self.document(of: form))
        #expect(!isRight)
        #expect(text.contains("403") && text.contains("(forbidden)"), "\(text)")
        #expect(!text.contains("eyJ") && !text.contains("demo-client|"))
        var page = DemoPage()
        page.add(row)
        let html = String(decoding: page.data, as: UTF8.self)
        #expect(html.contains("forbidden") && html.contains("What to do: ") && html.contains("0 of 1 right"))
        #expect(!html.contains("eyJ") && !html.contains("demo-client|"))
        await stage.bench.host.stop(within: .seconds(1))
    }

    @Test func `a vendor's words are in the row of an app that calls its service itself`() async throws {
        let form = try #require(DemoDocument.all.flatMap(\.forms).first { $0.picture == "nagra" })
        let service = try #require(stage.bench.host.services.first { $0.identifier == "nagra" })
        service.faults.set(.refusal(code: "1007", status: 400), at: .license)
        let (_, text, _) = try await demonstration.play(form, of: Self.document(of: form))
        #expect(text.contains("1007") && !text.contains("integrationFailed"), "\(text)")
        await stage.bench.host.stop(within: .seconds(1))
    }
}
