import Foundation
import Latchkey
import LatchkeyDevice
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

@testable import TestServers

/// An app against `latchkey-server`, through the profile of the server's own API.
@Suite(.serialized, .timeLimit(.minutes(5))) struct LicenseServerTests {
    @Test func `a demo stream plays with the server's licenses, each picture right`() async throws {
        let stage = try await StreamingServer()
        let report = try await stage.play(stage.loader(), .twoKeys)
        #expect(report.failure == nil)
        #expect(report.isRight)
        #expect(report.frameCount == 150)
    }

    @Test func `the policy's lease is the key's, and schedules its renewal`() async throws {
        let stage = try await StreamingServer()
        let loader = stage.loader()
        let events = loader.events()
        let key = try #require(stage.keys["video"])
        let answer = await stage.player(loader).key(KeyURI("skd://video/\(key.id)"))
        #expect(try answer.outcome.get().contentKey == key.content)
        var planned: Duration?
        for await event in events {
            guard case .renewalPlanned(let wait, let lease) = event.kind else { continue }
            planned = wait
            #expect(lease == .seconds(300))
            break
        }
        #expect(planned.map { $0 > .seconds(100) && $0 < .seconds(300) } == true)
    }

    @Test(arguments: [
        (#"{"place":{"allow":["DE"],"whenUnknown":"refuse"}}"#, Diagnosis.Kind.regionDenied, "place"),
        (#"{"blocked":{"users":["ann"]}}"#, .forbidden, "blocked"),
        (#"{"validity":{"type":"lease","lease":"5m","begin":"2100-01-01T00:00:00Z"}}"#, .notYetValid, "notBegun"),
        (#"{"stream":{"allow":false}}"#, .forbidden, "right"),
    ])
    func `a policy's refusal is the app's error, in the server's words`(
        policy: String, kind: Diagnosis.Kind, code: String
    ) async throws {
        let stage = try await StreamingServer(policy: policy)
        let key = try #require(stage.keys["video"])
        let answer = await stage.player(stage.loader()).key(KeyURI("skd://video/\(key.id)"))
        let error = #expect(throws: ContentKeyError.self) { try answer.outcome.get() }
        #expect(error?.kind == kind)
        #expect(error?.service?.code == code)
        #expect(error?.service?.message?.hasSuffix(".") == true)
        #expect(error?.service?.requestID?.isEmpty == false)
    }

    @Test func `a second stream on a one-stream account is the app's concurrency limit`() async throws {
        let policy = #"{"concurrency":{"scope":"account","limit":1,"mode":"refuseNewest","grace":"20s"}}"#
        let stage = try await StreamingServer(policy: policy)
        let key = try #require(stage.keys["video"])
        let uri = KeyURI("skd://video/\(key.id)")
        let loader = stage.loader()
        let first = await stage.player(loader, device: 1).key(uri)
        #expect(throws: Never.self) { try first.outcome.get() }
        let second = await stage.player(stage.loader(), device: 2).key(uri)
        let error = #expect(throws: ContentKeyError.self) { try second.outcome.get() }
        #expect(error?.kind == .concurrencyLimit)
        #expect(error?.service?.code == "sessionLimit")
        withExtendedLifetime(loader) {}
    }

    @Test func `heartbeats keep the stream's slot, and its end frees the slot for another`() async throws {
        let policy = """
            {"concurrency":{"scope":"account","limit":1,"mode":"refuseNewest","grace":"20s","heartbeat":"30s"}}
            """
        let stage = try await StreamingServer(policy: policy)
        let key = try #require(stage.keys["video"])
        let uri = KeyURI("skd://video/\(key.id)")
        let clock = ManualTimekeeper()
        let loader = stage.loader(timekeeper: clock)
        var states = loader.events().compactMap { event -> SessionState? in
            guard case .session(let state) = event.kind else { return nil }
            return state
        }.makeAsyncIterator()
        let first = await stage.player(loader, device: 1).key(uri)
        #expect(throws: Never.self) { try first.outcome.get() }
        #expect(await states.next() == .on)
        for _ in 0..<3 {
            await clock.untilSomeoneSleeps(for: .seconds(30))
            clock.advance(by: .seconds(30))
            #expect(await states.next() == .renewalRequested)
            #expect(await states.next() == .on)
        }
        loader.cancel()
        #expect(await states.next() == .teardownRequested)
        #expect(await states.next() == .off)
        let second = await stage.player(stage.loader(), device: 2).key(uri)
        #expect(throws: Never.self) { try second.outcome.get() }
    }

    @Test func `an unsigned token is refused, and the app is asked for another`() async throws {
        let stage = try await StreamingServer()
        let settings = [
            "certificateURL": "\(stage.tenant)/certificate", "licenseURL": "\(stage.tenant)/fairplay",
        ]
        let loader = stage.loader(.latchkey, settings) { Secret("eyJhbGciOiJub25lIn0.e30.") }
        let key = try #require(stage.keys["video"])
        let answer = await stage.player(loader).key(KeyURI("skd://video/\(key.id)"))
        let error = #expect(throws: ContentKeyError.self) { try answer.outcome.get() }
        #expect(error?.kind == .unauthenticated)
        #expect(error?.service?.code == "tokenRefused")
    }
}
