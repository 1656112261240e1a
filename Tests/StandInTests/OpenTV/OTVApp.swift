import Foundation
import LatchkeyCore
import LatchkeySimulation
import OPYSDKFPS
import StandInEngine

/// An app with NAGRA's CONNECT player.
enum OTVApp {
    static func player(_ stream: DemoAsset = .transportStream) -> OTVAVPlayer {
        OTVAVPlayer(url: Studio.playlist(of: stream))
    }

    static func play(_ stream: DemoAsset = .transportStream) async throws -> StandInPlayback.Result {
        let player = player(stream)
        await player.play()
        return try await player.standIn.finished()
    }

    /// Sets up the SDK as an app does.
    static func setUp(_ studio: Studio, _ callback: any OTVCustomerSSMCallback) {
        OTVSDK.load()
        let delegate = OTVCustomerSSMDelegate(certificate: studio.server.certificate)
        delegate.setCallback(callback)
        OTVDRMManager.shared.setLicenseDelegate(delegate)
    }
}

/// A customer callback as an app should have it, unless a test has another answer.
final class CustomerCallback: NSObject, OTVCustomerSSMCallback, Sendable {
    let types = Locked<[OTVLicenseRequestType]>([])
    let keySystems = Locked<[String]>([])
    private let answer: @Sendable (Data) -> OTVSSMLicenseResponse

    init(_ studio: Studio, _ answer: @escaping @Sendable (Data) -> OTVSSMLicenseResponse) { self.answer = answer }

    convenience init(_ studio: Studio, period: Int = 0, _ renewType: OTVLicenseRenewType = .enforced) {
        self.init(studio) { spc in
            OTVSSMLicenseResponse(
                license: try? studio.server.license(for: spc), heartbeat: period, renewType: renewType)
        }
    }

    func license(keySystem: String, payload: Data, licenseType: OTVLicenseRequestType) -> OTVSSMLicenseResponse {
        types.withLock { $0.append(licenseType) }
        keySystems.withLock { $0.append(keySystem) }
        return answer(payload)
    }

    func heartbeat() {}
}

/// A license delegate that an app wrote itself.
final class OwnLicenseDelegate: NSObject, OTVLicenseDelegate, Sendable {
    private let studio: Studio

    init(_ studio: Studio) { self.studio = studio }

    func contentIdentifier(url: URL) -> Data? { Data(url.absoluteString.utf8) }
    func certificate() -> Data? { studio.server.certificate }
    func ckcMessageWithID(spc: Data, assetID: String) -> Data? { try? studio.server.license(for: spc) }
}
