import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeyTesting
import LatchkeyVendorWire
import Testing

@Suite(.timeLimit(.minutes(5))) struct LicenseAuthorityTests {
    @Test func `the SPC alone can name the key`() async throws {
        let exchange = try exchange("skd://demo/video")
        let license = try await authority().license(for: question(exchange, nil)).get()
        #expect(try exchange.open(license.ckc.revealed).contentKey == Stage.videoKey)
        #expect(license.key.uri == "skd://demo/video")
    }

    @Test func `the terms are the credentials', or else the key's, or the defaults`() async throws {
        let exchange = try exchange("video")
        let id = try #require(KeyID(Stage.videoKeyID))
        let lease = { LicenseTerms(.lease(.seconds($0))) }
        let special = try authority(LicensePolicy(standard: lease(1), exceptions: [id: lease(2)]))
        let standard = try authority(LicensePolicy(standard: lease(1)))
        #expect(try await standard.license(for: question(exchange, nil)).get().terms == lease(1))
        #expect(try await special.license(for: question(exchange, nil)).get().terms == lease(2))
        #expect(try await special.license(for: question(exchange, nil, lease(3))).get().terms == lease(3))
    }

    @Test(arguments: [
        ("video", "demo/video", nil), ("video", "audio", "contentMismatch"), ("video", "unknown", "contentMismatch"),
        ("unknown", "video", "unknownKey"), (nil, "unknown", "unknownKey"), (nil, "audio", nil),
    ])
    func `request and SPC must agree`(_ name: String?, _ asset: String, _ code: String?) async throws {
        let result = try await authority().license(for: question(try exchange(asset), name))
        #expect(result.refusal?.code == code)
    }

    @Test(arguments: ["video", nil])
    func `a refusal does not repeat the token of a key URI`(_ name: String?) async throws {
        let exchange = try exchange("host/license?KID=nothing&usertoken=do-not-show-me")
        let refusal = try await authority().license(for: question(exchange, name)).refusal
        #expect(refusal?.reason.contains("KID=nothing") == true)
        #expect(refusal?.description.contains("do-not-show-me") == false)
    }

    @Test func `a vendor may ignore the SPC's asset`() async throws {
        var question = question(try exchange("constant"), "video")
        question.key = .named("video") { _ in nil }
        let result = try await authority().license(for: question)
        #expect(result.refusal == nil)
    }

    @Test(arguments: [(0, "malformedRequest"), (1, "malformedContainer"), (300, "unsupportedVersion")])
    func `a non-SPC is refused`(_ count: Int, _ code: String) async throws {
        let question = LicenseQuestion(spc: Data(count: count), key: .named("video"))
        let refusal = try await authority().license(for: question).refusal
        #expect(refusal?.code == code)
        #expect(refusal?.status == 400)
    }

    @Test func `an SPC for another certificate is refused`() async throws {
        let other = try TestCredentials.make(bits: 1024)
        let device = try SimulatedDevice(
            certificate: other.credential.certificate, applicationSecret: other.applicationSecret)
        var generator = SeededGenerator(seed: 1)
        let exchange = try device.exchange(for: "video", using: &generator)
        let refusal = try await authority().license(for: question(exchange, nil)).refusal
        #expect(refusal?.kind == .spc(.unknownCertificate))
    }

    @Test func `requests beyond the queue limit get 503`() async throws {
        let pool = WorkerPool(threads: 1, waiting: 0)
        let authority = LicenseAuthority(
            module: KeyServerModule(credentials: [], derivation: InsecureTestDerivation()), keys: ContentKeyStore([]),
            pool: pool)
        let refusal = await authority.license(for: LicenseQuestion(spc: Data(count: 9), key: .namedInSPC)).refusal
        #expect(refusal?.kind == .overloaded)
        #expect(refusal?.status == 503)
    }

    private func authority(_ policy: LicensePolicy = LicensePolicy()) throws -> LicenseAuthority {
        try Stage.authority(policy)
    }

    private func exchange(_ identifier: String) throws -> KeyExchange {
        let device = try SimulatedDevice(
            certificate: Stage.credentials.credential.certificate,
            applicationSecret: Stage.credentials.applicationSecret)
        var generator = SeededGenerator(seed: 1)
        return try device.exchange(for: ContentIdentifier(identifier), using: &generator)
    }

    private func question(_ exchange: KeyExchange, _ name: String?, _ terms: LicenseTerms? = nil) -> LicenseQuestion {
        LicenseQuestion(
            spc: exchange.spc.revealed, key: name.map { RequestedKey.named($0) } ?? .namedInSPC { $0.text },
            terms: terms)
    }
}

extension Result<IssuedLicense, LicenseRefusal> {
    fileprivate var refusal: LicenseRefusal? {
        guard case .failure(let refusal) = self else { return nil }
        return refusal
    }
}
