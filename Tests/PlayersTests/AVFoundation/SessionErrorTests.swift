import AVFoundation
import LatchkeyAVFoundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// The errors that the player and the app see when a key does not come.
@Suite(.timeLimit(.minutes(5))) struct SessionErrorTests {
    @Test(arguments: [
        (401, "unauthenticated", 209), (403, "forbidden", 210), (404, "notFound", 211), (503, "serverTransient", 216),
    ])
    func `the item's error has domain, number and remedy of the service's refusal`(
        _ status: Int, _ code: String, _ number: Int
    ) async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(status), at: .license)
            let app = AVApp(stage.loader(), playing: stage.playlist())
            let thrown = await #expect(throws: (any Error).self) { try await app.play() }
            let error = try #require(thrown) as NSError
            #expect(error.domain == ContentKeyError.errorDomain)
            #expect(error.code == number)
            #expect(error.userInfo[ContentKeyError.UserInfoKey.code] as? String == code)
            #expect(error.userInfo[ContentKeyError.UserInfoKey.status] as? Int == status)
            #expect(error.userInfo[ContentKeyError.UserInfoKey.stage] as? String == "license")
            #expect((error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)?.isEmpty == false)
            #expect(error.localizedDescription.contains("\(status)"))
            let failure = try #require(app.failures.all.first)
            #expect(failure.error.code == number)
            #expect(failure.loaderError?.service?.status == status)
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `the system's error about the SPC is underlying, and is explained`() async throws {
        try await PlayerStage.with { stage in
            stage.service(for: .vuDRM).faults.set(.status(404), at: .certificate)
            let app = AVApp(stage.loader(), playing: stage.playlist())
            await #expect(throws: (any Error).self) { try await app.play() }
            #expect(app.failures.all.first?.loaderError?.stage == .certificate)
        }
        // A foreign certificate: the device accepts only its hardware's.
        try await PlayerStage.with { stage in
            let loader = ContentKeyLoader(
                try VendorProfile.vuDRM.configured(["certificateURL": "https://nobody.test/certificate"]),
                credentials: Credentials { _ in CredentialSet(["token": Secret("a token")]) },
                transport: FakeTransport(get: [.ok(SampleBytes.certificate)], post: []), timekeeper: stage.time)
            let app = AVApp(loader, playing: stage.playlist())
            await #expect(throws: (any Error).self) { try await app.play() }
            let failure = try #require(app.failures.all.first)
            #expect(failure.loaderError?.kind == .spcFailed)
            #expect(failure.explanation?.code == -42679)
            #expect(FairPlayErrorExplanation.chain(of: failure.error).map(\.code) == [106, -11800, -42679])
        }
    }

    @Test func `no error, notice, event or log shows a secret`() async throws {
        try await PlayerStage.with(terms: LicenseTerms(.lease(.seconds(600)))) { stage in
            let service = stage.service(for: .vuDRM)
            let loader = stage.loader(lease: .seconds(600))
            let events = Locked<[KeyEvent]>([])
            let reading = Task { [stream = loader.events()] in
                for await event in stream { events.withLock { $0.append(event) } }
            }
            let app = AVApp(loader, playing: stage.playlist(.twoKeys))
            _ = try await app.play()
            for status in [403, 500] {
                service.faults.set(.status(status), at: .license)
                stage.time.advance(by: .seconds(450))
                await stage.log.untilCallback("didFail")
            }
            app.keys.release()
            loader.cancel()
            reading.cancel()
            await reading.value
            var text = ""
            dump(app.notices.all, to: &text)
            dump(app.failures.all, to: &text)
            dump(app.failures.errors.map(\.userInfo), to: &text)
            dump(events.withLock { $0 }, to: &text)
            dump(stage.log.contents, to: &text)
            #expect(text.contains("forbidden"))
            #expect(service.secrets.count >= 8)
            #expect(stage.secrets(in: text).isEmpty)
        }
    }
}
