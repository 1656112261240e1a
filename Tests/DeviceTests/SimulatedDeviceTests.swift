import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@Suite struct SimulatedDeviceTests {
    private let setting = ExchangeSetting.small

    /// Self-signed for `O=Latchkey Test` with the openssl command, without the marker. Its key was deleted.
    private static let unmarked = Data(
        base64Encoded: """
            MIIB6jCCAVOgAwIBAgIUQhM+toaxBVbITyWgXt0DYKnIpjswDQYJKoZIhvcNAQELBQAwGDEWMBQGA1UECgwNTGF0Y2hrZXkgVGVz
            dDAeFw0yNjExMjEwNzE3MDVaFw0zNjExMTgwNzE3MDVaMBgxFjAUBgNVBAoMDUxhdGNoa2V5IFRlc3QwgZ8wDQYJKoZIhvcNAQEB
            BQADgY0AMIGJAoGBANKWhCT6eXVVRaRlYfljCsVFb4WXbwNKdROCFs/zLtxuuTIGrKNXwF7wptky650QUUjQi4hUwWqtV5Gz+2Vi
            SOEG4mwt39u6/pqZZrX8DInJIOOWHfubef+TxVqZFR5beEj+tzS9pDCYSZmtXp0E3Z/Nt6H7hibwGT071fIrLIMTAgMBAAGjMTAv
            MA4GA1UdDwEB/wQEAwIFIDAdBgNVHQ4EFgQUi1AC+JiLpoe7bNZuXCriiNua6eYwDQYJKoZIhvcNAQELBQADgYEApGYrB5NqJfeA
            cBA5+noql9JPEsS9UBqq5/b6eECnDuXaf3295kyePSHv1ye20z/45JCgnXZyMafRDA1f6WxYZ4hLxUGte+E2wLEn7RiODFj/3TXB
            /Vj9xdaZhLC3a+PkjRI4TDmBB51zDB8DTVHq0L5EyI3BloiN7RvAPyFPMBs=
            """, options: .ignoreUnknownCharacters)

    @Test func `a certificate without the marker is refused`() throws {
        let certificate = try FairPlayCertificate(#require(Self.unmarked))
        let error = #expect(throws: CertificateError.self) {
            try SimulatedDevice(certificate: certificate, applicationSecret: setting.credentials.applicationSecret)
        }
        #expect(error?.kind == .notTestCertificate)
    }

    @Test func `a device is made from a credentials folder without its private key`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try setting.credentials.write(to: folder)
        try FileManager.default.removeItem(at: folder.appendingPathComponent("private-key.pem"))
        let device = try SimulatedDevice(directory: folder)
        var generator = SeededGenerator(seed: 1)
        let exchange = try device.exchange(for: "asset", using: &generator)
        #expect(try setting.module.open(exchange.spc.revealed).assetID == "asset")
    }

    @Test func `one seed gives one SPC`() throws {
        let spcs = try [5, 5, 6].map { (seed: UInt64) in
            var generator = SeededGenerator(seed: seed)
            return try setting.device.exchange(for: "asset", using: &generator).spc
        }
        #expect(spcs[0] == spcs[1])
        #expect(spcs[0] != spcs[2])
    }

    @Test(arguments: [
        (Data(), DeviceError.Kind.contentIdentifierMissing), (Data([1]), .contentIdentifierLength),
        (Data(repeating: 1, count: 201), .contentIdentifierLength),
    ])
    func `a content identifier that no device takes is refused`(bytes: Data, kind: DeviceError.Kind) {
        var generator = SeededGenerator(seed: 1)
        let error = #expect(throws: DeviceError.self) {
            try setting.device.exchange(for: ContentIdentifier(bytes: bytes), using: &generator)
        }
        #expect(error?.kind == kind)
    }

    @Test(arguments: PlaybackState.known)
    func `the playback states its session and the device's date`(state: PlaybackState) throws {
        var options = SPCOptions()
        options.playbackState = state
        options.playbackSession = PlaybackSessionID(rawValue: 77)
        let playback = try #require(try context(options).playback)
        #expect(playback.state == state)
        #expect(playback.session.rawValue == 77)
        #expect(playback.created == ManualTimekeeper().date)
    }

    @Test func `a device may use a protocol version that the server does not speak`() throws {
        var options = SPCOptions()
        options.protocolVersions = [1, 2]
        options.protocolVersionUsed = 2
        #expect(throws: KSMRefusal.self) { try context(options) }
        options.protocolVersions = []
        #expect(throws: DeviceError.self) { try context(options) }
    }

    @Test func `blocks come in random order`() throws {
        let orders = try (0..<20 as Range<UInt64>).map { seed in
            var options = SPCOptions()
            options.unknownBlocks = 0
            options.returnedUnknownBlocks = 0
            return try context(options, seed: seed).blocks.map(\.tag)
        }
        #expect(Set(orders).count == 20)
        #expect(Set(orders.map { Set($0) }).count == 1)
    }

    @Test func `returning an unsent block is refused by the server`() throws {
        var options = SPCOptions()
        options.returned = [TLLVTag(rawValue: 0xabc)]
        let error = #expect(throws: KSMRefusal.self) { try context(options) }
        #expect(error?.kind == .returnTagMissing)
    }

    @Test func `a server with another application secret key refuses`() throws {
        let credential = try KeyServerCredential(
            certificate: setting.device.certificate, privateKeyPEM: privateKey(),
            applicationSecret: Secret([UInt8](repeating: 1, count: 16)))
        let module = KeyServerModule(credentials: [credential], derivation: InsecureTestDerivation())
        var generator = SeededGenerator(seed: 1)
        let spc = try setting.device.exchange(for: "asset", using: &generator).spc
        let error = #expect(throws: KSMRefusal.self) { try module.open(spc.revealed) }
        #expect(error?.kind == .integrity)
    }

    private func privateKey() throws -> Secret {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: folder) }
        try setting.credentials.write(to: folder)
        return Secret(try Data(contentsOf: folder.appendingPathComponent("private-key.pem")))
    }

    private func context(_ options: SPCOptions, seed: UInt64 = 1) throws -> ServerPlaybackContext {
        var generator = SeededGenerator(seed: seed)
        let exchange = try setting.device.exchange(for: "asset", options: options, using: &generator)
        return try setting.module.open(exchange.spc.revealed)
    }
}
