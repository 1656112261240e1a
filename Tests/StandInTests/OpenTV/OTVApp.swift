import Foundation
import LatchkeyCore
import LatchkeySimulation
import OPYSDKFPS
import StandInEngine

/// An app with NAGRA's CONNECT player.
enum OTVApp {
    static func player(_ stream: DemoAsset = .transportStream) -> OTVAVPlayer {
        OTVAVPlayer(url: StandInFixture.playlist(of: stream))
    }

    static func play(_ stream: DemoAsset = .transportStream) async throws -> StandInPlayback.Result {
        let player = player(stream)
        await player.play()
        return try await player.standIn.finished()
    }

    /// Sets up the SDK as an app does.
    static func setUp(_ fixture: StandInFixture, _ callback: any OTVCustomerSSMCallback) {
        OTVSDK.load()
        let delegate = OTVCustomerSSMDelegate(certificate: fixture.server.certificate)
        delegate.setCallback(callback)
        OTVDRMManager.shared.setLicenseDelegate(delegate)
    }
}

/// A correct customer callback. A test can replace its answer.
final class CustomerCallback: NSObject, OTVCustomerSSMCallback, Sendable {
    /// The raw values of the types of the requested licenses.
    let types = Locked<[Int]>([])
    let keySystems = Locked<[String]>([])
    private let answer: @Sendable (Data) -> OTVSSMLicenseResponse

    init(_ fixture: StandInFixture, _ answer: @escaping @Sendable (Data) -> OTVSSMLicenseResponse) {
        self.answer = answer
    }

    convenience init(_ fixture: StandInFixture, period: Int = 0, _ renewType: OTVLicenseRenewType = .enforced) {
        let isRenewed = renewType == .enforced
        self.init(fixture) { spc in
            OTVSSMLicenseResponse(
                license: try? fixture.server.license(for: spc), heartbeat: period,
                renewType: isRenewed ? .enforced : .heartbeat)
        }
    }

    func license(keySystem: String, payload: Data, licenseType: OTVLicenseRequestType) -> OTVSSMLicenseResponse {
        types.withLock { $0.append(licenseType.rawValue) }
        keySystems.withLock { $0.append(keySystem) }
        return answer(payload)
    }

    func heartbeat() {}
}

/// An app's own license delegate.
final class OwnLicenseDelegate: NSObject, OTVLicenseDelegate, Sendable {
    private let fixture: StandInFixture

    init(_ fixture: StandInFixture) { self.fixture = fixture }

    func contentIdentifier(url: URL) -> Data? { Data(url.absoluteString.utf8) }
    func certificate() -> Data? { fixture.server.certificate }
    func ckcMessageWithID(spc: Data, assetID: String) -> Data? { try? fixture.server.license(for: spc) }
}
