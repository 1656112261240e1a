import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// ExpressPlay's device binding, from the player to the service: the binding document is registered in one run of the app, and
/// later runs ask for bound tokens.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DeviceBindingTests {
    private static let other = Secret("latchkey-simulator-2")

    private func keys(
        _ live: LiveServices, type: Int, on device: Secret? = nil, cookie: String = "viewer-1"
    ) async throws -> StreamReport {
        let profile = VendorProfile.expressPlayEntitlement
        let loader = live.loader(profile, settings: ["requestType": "\(type)", "customerCookie": cookie])
        let player = SimulatedPlayer(
            loader: loader, applicationSecret: live.applicationSecret,
            deviceIdentifier: device ?? Secret("latchkey-simulator-1"))
        return try await player.keys(of: live.playlist(.transportStream, for: profile))
    }

    @Test func `a device registers and gets bound licenses, and another gets none`() async throws {
        try await LiveServices.with { live in
            #expect(try await keys(live, type: 2).failure == nil)
            #expect(try await keys(live, type: 3).failure == nil)
            let error = try await keys(live, type: 3, on: Self.other).failure as? ContentKeyError
            #expect(error?.code == "forbidden")
            #expect(error?.service?.code == "-4001")
            #expect(try await keys(live, type: 1, on: Self.other).failure == nil)
        }
    }

    @Test func `without a registration the entitlement server refuses`() async throws {
        try await LiveServices.with { live in
            let error = try await keys(live, type: 3).failure as? ContentKeyError
            #expect(error?.stage == .lookup)
            #expect(error?.service?.code == "-4001")
        }
    }

    @Test(.enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"))
    func `play registers, plays bound, and is refused as another device`() async throws {
        try await LiveServices.with { live in
            let registered = try await play(live, type: 2)
            #expect(registered.status == 0, "\(registered.output)")
            #expect(try await play(live, type: 3).status == 0)
            let refused = try await play(live, type: 3, "--device", Self.other.revealed.hexString)
            #expect(refused.status == 1)
            #expect(refused.output.contains("-4001"))
        }
    }

    private func play(_ live: LiveServices, type: Int, _ options: String...) async throws -> ToolProcess.Outcome {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let profile = live.configured(.expressPlayEntitlement)
        let settings = profile.settings.merging(["requestType": "\(type)", "customerCookie": "viewer-1"]) { $1 }
        return try await ToolProcess.run(
            ["play", live.playlist(.transportStream, for: profile), "--vendor", profile.identifier, "--loopback-http"]
                + settings.flatMap { ["--set", "\($0.key)=\($0.value)"] } + ["--credentials", folder.path("c")]
                + options)
    }
}
