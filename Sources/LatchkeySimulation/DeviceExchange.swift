import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyVendors

/// One exchange of a simulated device, which begins when the certificate is available.
struct DeviceExchange: Sendable {
    private let maker: SimulatedDeviceMaker
    private let exchange = Locked<KeyExchange?>(nil)

    init(_ maker: SimulatedDeviceMaker) { self.maker = maker }

    func makeSPC(certificate: Data, contentIdentifier: Data, _ options: SPCOptions) throws -> Data {
        var generator = CryptographicGenerator()
        var options = options
        options.destination = maker.destination
        let exchange = try maker.device(certificate: certificate)
            .exchange(for: ContentIdentifier(bytes: contentIdentifier), options: options, using: &generator)
        self.exchange.withLock { $0 = exchange }
        return exchange.spc.revealed
    }

    func open(_ ckc: Data) throws -> DeviceKey { try begun().open(ckc, at: maker.timekeeper) }

    func persistableKey(from ckc: Data, in vault: KeyVault) throws -> Data {
        try vault.persistableKey(from: ckc, of: begun())
    }

    private func begun() throws -> KeyExchange {
        guard let exchange = exchange.withLock({ $0 }) else { throw CancellationError() }
        return exchange
    }
}

extension SPCOptions {
    /// The exchange that a player makes for a purpose.
    init(_ purpose: KeyPurpose, in session: PlaybackSessionID? = nil) {
        switch purpose {
        case .renewal: self = .renewing(in: session)
        case .persistable: self = .storing
        case .streaming: self = SPCOptions()
        }
        playbackSession = session
    }
}

/// Creates the simulated device for a certificate, as a real device accepts any certificate from the app.
struct SimulatedDeviceMaker: Sendable {
    let applicationSecret: Secret
    /// The certificate that the secret belongs to; `nil` if unknown.
    let certificate: FairPlayCertificate?
    /// The device's identifier, 20 bytes.
    var identifier = SimulatedDevice.standardIdentifier
    let timekeeper: any Timekeeper
    /// The destination of the picture. Defaults to the device's own display.
    var destination = StreamingDestination.device

    /// - Parameter der: the certificate from the app.
    func device(certificate der: Data) throws -> SimulatedDevice {
        let given = try FairPlayCertificate(der)
        if let certificate, certificate.fingerprint != given.fingerprint {
            throw Diagnosis.foreignCertificate(given: given, expected: certificate)
        }
        return try SimulatedDevice(
            certificate: given, applicationSecret: applicationSecret, identifier: identifier, timekeeper: timekeeper)
    }
}

extension Diagnosis {
    /// The service's certificate differs from that of the device's credentials, so it could not open the device's SPCs.
    fileprivate static func foreignCertificate(
        given: FairPlayCertificate, expected: FairPlayCertificate
    ) -> Diagnosis {
        let (given, expected) = (given.fingerprint.hexString, expected.fingerprint.hexString)
        return Diagnosis(
            code: "foreignCertificate",
            reason: "The service's certificate (SHA-1 \(given)) is not that of the device's credentials (\(expected)).",
            remedy: "Give the credentials that the service was started with.")
    }
}
