import Latchkey
import LatchkeyCore
import LatchkeyOpenTV
import OPYSDKFPS
import StandInEngine

/// CONNECT's two ways to get keys. Its hooks return the answer, on a thread of the SDK that waits.
extension PlayerUnderTest {
    static let openTVDelegate = PlayerUnderTest(
        "CONNECT, license delegate", can: [.loaderRequests, .loaderHolds, .renewal], asksBy: "ckcMessageWith"
    ) { setup in
        let keys = OpenTVKeys(setup.loader, deadline: .seconds(600), onFailure: setup.failures.add)
        return await openTV(setup, keys) { keys.release() }
    }

    static let openTVCallback = PlayerUnderTest(
        "CONNECT, customer-ssm", can: [.loaderRequests, .renewal], asksBy: "license"
    ) { setup in
        // The SDK does not name the key, so the session is for the first one.
        let session = LoaderCustomerSession(setup.loader, key: setup.stage.key(for: setup.profile))
        let certificate = try await setup.loader.applicationCertificate().bytes
        let delegate = OTVCustomerSSMDelegate(certificate: certificate)
        delegate.setCallback(
            OpenTVCustomerKeys(session, deadline: .seconds(600), onFailure: setup.failures.add))
        return await openTV(setup, delegate) { setup.loader.cancel() }
    }

    private static func openTV(
        _ setup: AppSetup, _ delegate: any OTVLicenseDelegate, leave: @escaping @Sendable () -> Void
    ) async -> AppUnderTest {
        OTVSDK.load()
        // Sound: the manager has a lock.
        nonisolated(unsafe) let manager = OTVDRMManager.shared
        manager.setLicenseDelegate(delegate)
        let player = OTVAVPlayer(url: setup.playlist)
        return AppUnderTest(
            play: {
                await player.play()
                return try await player.standIn.finished()
            }, leave: leave, drop: { manager.setLicenseDelegate(nil) })
    }
}
