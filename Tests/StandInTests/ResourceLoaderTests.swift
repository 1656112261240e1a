import AVFoundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

/// Tests of the stand-in for `AVAssetResourceLoader`.
@Suite(.timeLimit(.minutes(5))) struct ResourceLoaderTests {
    @Test func `a request is cancelled once its SPC is made`() async throws {
        let fixture = try StandInFixture(.cancelsMidway)
        await fixture.stage.run {
            let app = LoaderApp(fixture) { try LoaderApp.answer($0, fixture) }
            let error = await #expect(throws: AVError.self) { try await app.play() }
            #expect(error?.code == .operationCancelled)
            #expect(fixture.log.names == ["shouldWaitForLoading", "didCancelLoading"])
        }
        #expect(fixture.log.violations.isEmpty)
    }

    @Test func `a renewal date causes another key request`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(600))))
        try await fixture.stage.run {
            let app = LoaderApp(fixture) { request in
                request.contentInformationRequest?.contentType = AVStreamingKeyDeliveryContentKeyType
                request.contentInformationRequest?.renewalDate = fixture.time.date.addingTimeInterval(480)
                try LoaderApp.answer(request, fixture)
            }
            _ = try await app.play()
            await fixture.time.untilSomeoneSleeps(for: .seconds(480))
            fixture.time.advance(by: .seconds(480))
            await fixture.log.untilCallback("shouldWaitForRenewal")
            await fixture.time.untilSomeoneSleeps(for: .seconds(480))
            fixture.time.advance(by: .seconds(300))
            let result = try await app.play()
            #expect(result.isRight)
            await fixture.log.untilCallback("shouldWaitForLoading", times: 1)
            #expect(fixture.log.contents.count(of: "shouldWaitForLoading") == 1)
        }
    }

    @Test func `a key stored through the loader plays without the key server`() async throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.persistent))
        try await fixture.stage.run {
            let stored = Locked<Data?>(nil)
            let script: @Sendable (AVAssetResourceLoadingRequest) throws -> Void = { request in
                let key = try stored.withLock { $0 } ?? LoaderApp.storableKey(request, fixture)
                stored.withLock { $0 = key }
                request.contentInformationRequest?.contentType = AVStreamingKeyDeliveryPersistentContentKeyType
                request.dataRequest?.respond(with: key)
                request.finishLoading()
            }
            for _ in 0..<2 {
                let app = LoaderApp(fixture, .transportStream, script)
                let result = try await app.play()
                #expect(result.isRight)
            }
            #expect(fixture.log.violations.isEmpty)
        }
    }
}
