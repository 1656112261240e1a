import Latchkey
import LatchkeyCore
import LatchkeyOpenTV
import OPYSDKFPS
import StandInEngine

/// CONNECT's two ways to get keys. Its hooks answer by returning, on a worker of the SDK's that waits.
extension PlayerUnderTest {
    static let openTVDelegate = PlayerUnderTest(
        "CONNECT, license delegate",
        in: [
            "OpenTV/OpenTVLicenseDelegate", "OpenTV/BlockedReply", "OpenTV/DelegateKeyRequest", "OpenTV/DelegateMemory",
        ], can: [.loaderRequests, .loaderHolds, .tellsApp, .renewal], asksBy: "ckcMessageWith"
    ) { setup in
        await openTV(setup) { OpenTVLicenseDelegate(setup.loader, deadline: .seconds(600)) { setup.errors.add($1) } }
    }

    static let openTVCallback = PlayerUnderTest(
        "CONNECT, customer-ssm", in: ["OpenTV/OpenTVCustomerCallback", "OpenTV/BlockedReply"],
        can: [.loaderRequests, .tellsApp, .renewal], asksBy: "license"
    ) { setup in
        // The SDK does not say which key it wants a license of, so the session speaks of the first.
        let session = LoaderCustomerSession(setup.loader, key: setup.stage.key(for: setup.profile))
        let certificate = try await setup.loader.applicationCertificate().der
        return await openTV(setup) {
            let delegate = OTVCustomerSSMDelegate(certificate: certificate)
            delegate.setCallback(OpenTVCustomerCallback(session, deadline: .seconds(600)) { setup.errors.add($0) })
            return delegate
        }
    }

    private static func openTV(_ setup: AppSetup, _ delegate: () -> any OTVLicenseDelegate) async -> AppUnderTest {
        OTVSDK.load()
        let manager = OTVDRMManager.shared
        manager.setLicenseDelegate(delegate())
        let player = OTVAVPlayer(url: setup.playlist)
        return AppUnderTest(
            play: {
                await player.play()
                return try await player.standIn.finished()
            }, leave: { setup.loader.cancel() }, drop: { manager.setLicenseDelegate(nil) })
    }
}
