import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import Testing

/// Test credentials, and whole licenses with them.
struct LicenseeStage {
    static let content = ContentKey(
        key: Secret([UInt8](repeating: 0x3b, count: 16)), iv: Secret([UInt8](repeating: 0x17, count: 16)))

    let credentials: TestCredentials

    /// Shared, because making RSA keys is slow.
    static let small = LicenseeStage(bits: 1_024)
    static let large = LicenseeStage(bits: 2_048)

    private init(bits: Int) {
        do { credentials = try TestCredentials.make(bits: bits) } catch { preconditionFailure("\(error)") }
    }

    var credential: KeyServerCredential { credentials.credential }

    func exchange(for asset: ContentIdentifier = "asset", seed: UInt64 = 1) throws -> KeyExchange {
        var generator = SeededGenerator(seed: seed)
        return try SimulatedDevice(
            certificate: credential.certificate, applicationSecret: credentials.applicationSecret
        )
        .exchange(for: asset, using: &generator)
    }

    /// Makes a license and opens it with the device.
    /// - Parameter version: the container version that the SPC states. Defaults to the true one.
    func expectLicense(from module: KeyServerModule, version: UInt8? = nil, seed: UInt64 = 1) throws {
        let exchange = try exchange(seed: seed)
        var spc = Array(exchange.spc.revealed)
        if let version { spc[3] = version }
        let content = try #require(Self.content)
        var generator = SeededGenerator(seed: seed)
        let ckc = try module.contentKeyContext(
            for: module.open(spc), key: content, terms: LicenseTerms(), using: &generator)
        #expect(try exchange.open(ckc).contentKey == content)
    }
}
