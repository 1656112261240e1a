import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting

/// A key server and a device with the same test credentials.
struct ExchangeSetting: Sendable {
    let credentials: TestCredentials
    let module: KeyServerModule
    let device: SimulatedDevice

    static let small = made(bits: 1024)
    static let large = made(bits: 2048)
    static let other = made(bits: 1024)

    static func of(bits: Int) -> ExchangeSetting { bits == 1024 ? small : large }

    private static func made(bits: Int) -> ExchangeSetting {
        do {
            let credentials = try TestCredentials.make(bits: bits)
            let device = try SimulatedDevice(
                certificate: credentials.credential.certificate, applicationSecret: credentials.applicationSecret,
                timekeeper: ManualTimekeeper())
            let module = KeyServerModule(
                credentials: [credentials.credential], derivation: InsecureTestDerivation())
            return ExchangeSetting(credentials: credentials, module: module, device: device)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}

extension ContentKey {
    static func random(using generator: inout some RandomNumberGenerator) -> ContentKey {
        guard let key = ContentKey(key: Secret(generator.bytes(16)), iv: Secret(generator.bytes(16))) else {
            preconditionFailure("16 bytes each")
        }
        return key
    }
}

extension KeyServerModule {
    /// Answers an exchange's SPC.
    func answer(
        _ exchange: KeyExchange, with key: ContentKey, _ terms: LicenseTerms = LicenseTerms(), seed: UInt64 = 1
    ) throws -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        return try contentKeyContext(for: open(exchange.spc.revealed), key: key, terms: terms, using: &generator)
    }
}
