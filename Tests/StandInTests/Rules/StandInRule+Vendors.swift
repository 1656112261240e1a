import BitmovinPlayer
import Foundation
import JWPlayerKit
import JWPlayer_iOS_SDK
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import OPYSDKFPS
import PSDKLibrary
import StandInEngine
import THEOplayerSDK
import Testing

extension StandInRule {
    /// The players other than AVFoundation.
    static let vendors = jwPlayer + jwPlayer3 + theoPlayer + openTV + others

    private static let jwPlayer = [
        StandInRule("JW Player 4: a handler is called once", .completedTwice) { fixture, use in
            let app = KitApp(fixture) { script in
                script.identifier = { url, answer in
                    for _ in 0..<(use == .wrong ? 2 : 1) { answer(Data(url.absoluteString.utf8)) }
                }
            }
            try await app.play().expectRight()
        },
        StandInRule("JW Player 4: a handler is called", .unanswered) { fixture, use in
            let app = KitApp(fixture) { script in
                let certificate = script.certificate
                script.certificate = { if use == .right { certificate($0, $1) } }
            }
            try await app.play()
        },
        StandInRule("JW Player 4: a renewal date has a content type", .renewalDateWithoutType) { fixture, use in
            let app = KitApp(fixture) { script in
                script.key = { spc, answer in
                    let date = fixture.time.date.addingTimeInterval(480)
                    let type = use == .wrong ? nil : "application/octet-stream"
                    answer(try? fixture.server.license(for: spc), date, type)
                }
            }
            try await app.play()
        },
        StandInRule("JW Player 4: the data source comes before the configuration", .delegateSetLate) { fixture, use in
            let (view, source) = (JWPlayerView(), KitSource(fixture.server))
            if use == .right { view.player.contentKeyDataSource = source }
            view.player.configurePlayer(with: try KitApp.configuration(StandInFixture.playlist(of: .transportStream)))
            if use == .wrong { view.player.contentKeyDataSource = source }
            view.player.play()
            _ = try await view.standIn.finished()
            withExtendedLifetime(source) {}
        },
        StandInRule("JW Player 4: the app retains the data source", .delegateGone) { fixture, use in
            let view = JWPlayerView()
            var source: KitSource? = KitSource(fixture.server)
            view.player.contentKeyDataSource = source
            if use == .wrong { source = nil }
            view.player.configurePlayer(with: try KitApp.configuration(StandInFixture.playlist(of: .transportStream)))
            view.player.play()
            defer { withExtendedLifetime(source) {} }
            if use == .right { return try await view.standIn.finished().expectRight() }
            await #expect(throws: JWError.self) { try await view.standIn.finished() }
        },
        StandInRule("JW Player 4: a call returns", .blockedCallback, limit: .milliseconds(1)) { fixture, use in
            let mayReturn = DispatchSemaphore(value: 0)
            let app = KitApp(fixture) { script in
                script.identifier = { url, answer in
                    if use == .wrong { mayReturn.wait() }
                    answer(Data(url.absoluteString.utf8))
                }
            }
            async let played = app.play()
            if use == .wrong { await fixture.log.untilViolation(.blockedCallback) }
            mayReturn.signal()
            try await played.expectRight()
        },
        // The first is the misleading error of the real player.
        noAnswer("JW Player 4: the certificate comes", [281_000, NSURLErrorUnsupportedURL]) {
            $0.certificate = { _, answer in answer(nil) }
        },
        noAnswer("JW Player 4: a license comes", [281_000]) { $0.key = { _, answer in answer(nil, nil, nil) } },
        noAnswer("JW Player 4: an error page is no license", [-42_668]) {
            $0.key = { _, answer in answer(Data("<html>".utf8), nil, nil) }
        },
    ]

    private static func noAnswer(
        _ words: String, _ numbers: [Int], _ change: @escaping @Sendable (inout KitSource.Script) -> Void
    ) -> StandInRule {
        StandInRule(words, numbers: numbers, in: "§4.2") { fixture, use in
            let app = KitApp(fixture) { if use == .wrong { change(&$0) } }
            try await app.play().expectRight()
        }
    }

    private static let jwPlayer3 = [
        StandInRule("JW Player 3: a completion is called once", .completedTwice) { fixture, use in
            let source = OldSource(fixture.server) { spc, answer in
                let license = (try? fixture.server.license(for: spc)) ?? Data()
                for _ in 0..<(use == .wrong ? 2 : 1) { answer(license, nil, nil) }
            }
            try await source.play().expectRight()
            if use == .wrong { await fixture.log.untilViolation(.completedTwice) }
        },
        StandInRule("JW Player 3: a completion is called", .unanswered) { fixture, use in
            let source = OldSource(fixture.server) { spc, answer in
                if use == .right { answer((try? fixture.server.license(for: spc)) ?? Data(), nil, nil) }
            }
            if use == .right { return try await source.play().expectRight() }
            await #expect(throws: NSError.self) { try await source.play() }
        },
        StandInRule("JW Player 3: a renewal date has a content type", .renewalDateWithoutType) { fixture, use in
            let source = OldSource(fixture.server) { spc, answer in
                let date = fixture.time.date.addingTimeInterval(480)
                let type = use == .wrong ? nil : "application/octet-stream"
                answer((try? fixture.server.license(for: spc)) ?? Data(), date, type)
            }
            try await source.play().expectRight()
        },
        StandInRule("JW Player 3: the data source comes before the keys are asked for", .delegateSetLate) {
            fixture, use in
            let source = OldSource(fixture.server)
            let player = try OldSource.player()
            if use == .right { player.drmDataSource = source }
            player.play()
            if use == .wrong { player.drmDataSource = source }
            // Late, it is in time for the keys or not.
            do { _ = try await player.standIn.finished() } catch { #expect(use == .wrong) }
            withExtendedLifetime(source) {}
        },
        StandInRule("JW Player 3: the app retains the data source", .delegateGone) { fixture, use in
            let player = try OldSource.player()
            var source: OldSource? = OldSource(fixture.server)
            player.drmDataSource = source
            if use == .wrong { source = nil }
            player.play()
            defer { withExtendedLifetime(source) {} }
            if use == .right { return try await player.standIn.finished().expectRight() }
            await #expect(throws: NSError.self) { try await player.standIn.finished() }
        },
    ]

    private static let theoPlayer = [
        StandInRule("THEOplayer: a callback is answered once", .answeredTwice) { fixture, use in
            let integration = TestIntegration(fixture.server) { script in
                script.identifier = {
                    $1.respond(contentID: Data($0.utf8))
                    if use == .wrong { $1.respond(contentID: nil) }
                }
            }
            let player = THEOplayer.playing(.transportStream, integration)
            try await player.standIn.finished().expectRight()
        },
        StandInRule("THEOplayer: a request hook requests or responds", .answeredTwice) { fixture, use in
            try await DemoServer.run(fixture.server) { demo in
                let integration = TestIntegration(fixture.server, demo) { script in
                    let certificateRequest = script.certificateRequest
                    script.certificateRequest = {
                        certificateRequest($0, $1)
                        if use == .wrong { $1.respond(certificate: Data()) }
                    }
                }
                let player = THEOplayer.playing(.transportStream, integration)
                try await player.standIn.finished().expectRight()
            }
        },
        StandInRule("THEOplayer: a callback is answered", .unanswered) { fixture, use in
            let integration = TestIntegration(fixture.server) {
                if use == .wrong { $0.licenseRequest = { _, _ in } }
            }
            let player = THEOplayer.playing(.transportStream, integration)
            try await player.standIn.finished().expectRight()
        },
        StandInRule("THEOplayer: an error has a domain and a text", .errorWithoutText) { fixture, use in
            struct Refusal: Error {}
            let integration = TestIntegration(fixture.server) {
                $0.licenseRequest = { $1.error(error: use == .wrong ? Refusal() : TestIntegration.refusal) }
            }
            let player = THEOplayer.playing(.transportStream, integration)
            await #expect(throws: (any Error).self) { try await player.standIn.finished() }
        },
        StandInRule("THEOplayer: a failed reply is no license", .failedReplyPassedOn) { fixture, use in
            try await DemoServer.run(fixture.server) { demo in
                demo.refuseLicenses(with: 500)
                let integration = TestIntegration(fixture.server, demo) {
                    if use == .wrong { $0.licenseResponse = { $1.respond(license: $0.body) } }
                }
                let player = THEOplayer.playing(.transportStream, integration)
                await #expect(throws: (any Error).self) { try await player.standIn.finished() }
            }
        },
        StandInRule("THEOplayer: a hook returns", .blockedCallback, limit: .milliseconds(1)) { fixture, use in
            let mayReturn = DispatchSemaphore(value: 0)
            let integration = TestIntegration(fixture.server) { script in
                script.identifier = {
                    if use == .wrong { mayReturn.wait() }
                    $1.respond(contentID: Data($0.utf8))
                }
            }
            let player = THEOplayer.playing(.transportStream, integration)
            if use == .wrong { await fixture.log.untilViolation(.blockedCallback) }
            mayReturn.signal()
            try await player.standIn.finished().expectRight()
        },
    ]

    private static let openTV = [
        StandInRule("CONNECT: the SDK is loaded before a player is made", .libraryNotLoaded) { fixture, use in
            if use == .right { OTVSDK.load() }
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(fixture))
            try await OTVApp.play().expectRight()
        },
        StandInRule("CONNECT: the delegate comes before a player", .delegateSetLate) { fixture, use in
            OTVSDK.load()
            let first = use == .wrong ? OTVApp.player() : nil
            OTVDRMManager.shared.setLicenseDelegate(OwnLicenseDelegate(fixture))
            try await OTVApp.play().expectRight()
            withExtendedLifetime(first) {}
        },
        blocked("CONNECT: a license has a deadline", .blockedCallback, []),
        blocked("CONNECT: the main thread does not wait for a license", .blockedMainThread, [.callsOnMainThread]),
    ]

    private static func blocked(
        _ words: String, _ rule: RuleViolation.Rule, _ misbehaviors: Set<Misbehavior>
    ) -> StandInRule {
        StandInRule(words, rule, behavior: StandInBehavior(misbehaviors), limit: .milliseconds(1)) { fixture, use in
            let mayReturn = DispatchSemaphore(value: 0)
            OTVApp.setUp(
                fixture,
                CustomerCallback(fixture) { spc in
                    if use == .wrong { mayReturn.wait() }
                    return OTVSSMLicenseResponse(
                        license: try? fixture.server.license(for: spc), heartbeat: 0, renewType: .enforced)
                })
            let player = OTVApp.player()
            await player.play()
            if use == .wrong { await fixture.log.untilViolation(rule) }
            mayReturn.signal()
            try await player.standIn.finished().expectRight()
        }
    }

    private static let others = [
        StandInRule("TVSDK: the loader comes before an item", .delegateSetLate) { fixture, use in
            let loader = PTLoader(fixture)
            if use == .right { loader.register() }
            let item = PTLoader.item()
            if use == .wrong { loader.register() }
            withExtendedLifetime(item) {}
        },
        StandInRule("TVSDK: a request is finished once", .finishedTwice) { fixture, use in
            let loader = PTLoader(fixture) { request in
                try LoaderApp.answer(request, fixture)
                if use == .wrong { request.finishLoading() }
            }
            try await loader.play().expectRight()
        },
        StandInRule("TVSDK: a request is retained and answered", .unanswered) { fixture, use in
            let loader = PTLoader(fixture) { if use == .right { try LoaderApp.answer($0, fixture) } }
            if use == .right { return try await loader.play().expectRight() }
            await #expect(throws: (any Error).self) { try await loader.play() }
        },
        StandInRule("TVSDK: there is a loader", numbers: [-11_835], in: "§7") { fixture, use in
            let loader = PTLoader(fixture)
            if use == .right { loader.register() }
            let player = try #require(PTMediaPlayer(mediaPlayerItem: PTLoader.item()))
            player.play()
            try await player.standIn.finished().expectRight()
            withExtendedLifetime(loader) {}
        },
        StandInRule(
            "Bitmovin: the license's address is not the key's", numbers: [2306, NSURLErrorUnsupportedURL], in: "§8.1"
        ) { fixture, use in
            try await DemoServer.run(fixture.server) { demo in
                let config = FairplayConfig(
                    license: use == .wrong ? nil : URL(string: demo.license),
                    certificateURL: try #require(URL(string: demo.certificate)))
                try await BitmovinApp.play(BitmovinApp.source(config)).expectRight()
            }
        },
        StandInRule("Bitmovin: a refused license has a number", numbers: [2306], in: "§8.1") { fixture, use in
            try await DemoServer.run(fixture.server) { demo in
                if use == .wrong { demo.refuseLicenses(with: 403) }
                let config = try BitmovinApp.configuration(demo)
                try await BitmovinApp.play(BitmovinApp.source(config)).expectRight()
            }
        },
        StandInRule("Bitmovin: a key that came is renewed", .renewedWithoutKey) { fixture, use in
            try await DemoServer.run(fixture.server) { demo in
                let listener = BitmovinListener()
                let first = BitmovinApp.source(try BitmovinApp.configuration(demo))
                first.add(listener: listener)
                _ = try await BitmovinApp.play(first)
                await fixture.log.untilCallback("onFairplayLicenseAcquired")
                let request = try #require(listener.requests.withLock { $0.first })
                let other = BitmovinApp.source(try BitmovinApp.configuration(demo))
                (use == .wrong ? other : first).drm.fairplay.renewExpiringLicense(for: request)
                if use == .right { await fixture.log.untilCallback("onFairplayLicenseAcquired", times: 2) }
            }
        },
        StandInRule("Bitmovin: a closure returns", .blockedCallback, limit: .milliseconds(1)) { fixture, use in
            try await DemoServer.run(fixture.server) { demo in
                let mayReturn = DispatchSemaphore(value: 0)
                let config = try BitmovinApp.configuration(demo)
                config.prepareContentId = {
                    if use == .wrong { mayReturn.wait() }
                    return $0
                }
                let source = BitmovinApp.source(config)
                let player = PlayerFactory.create()
                player.load(source: source)
                player.play()
                if use == .wrong { await fixture.log.untilViolation(.blockedCallback) }
                mayReturn.signal()
                try await #require(source.standIn).finished().expectRight()
            }
        },
    ]
}
