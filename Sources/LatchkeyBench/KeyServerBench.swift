import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay

/// The key server alone on one thread: SPCs in memory, CKCs out.
struct KeyServerBench: Sendable {
    let credentials: TestCredentials
    let module: KeyServerModule
    /// Different SPCs, in a number that no cache holds a single exchange.
    let spcs: [[UInt8]]
    private let key: ContentKey
    private let terms = LicenseTerms(.lease(.seconds(3_600)), hdcp: .type0)

    /// - Parameters:
    ///   - bits: 1024 or 2048.
    ///   - identifier: the content identifier of the SPCs.
    init(bits: Int, identifier: ContentIdentifier = "skd://bench/key") throws {
        credentials = try TestCredentials.make(bits: bits)
        module = KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation())
        let device = try SimulatedDevice(
            certificate: credentials.credential.certificate, applicationSecret: credentials.applicationSecret)
        var random = SystemRandomNumberGenerator()
        var spcs: [[UInt8]] = []
        for _ in 0..<64 {
            let exchange = try device.exchange(for: identifier, using: &random)
            spcs.append(exchange.spc.withUnsafeBytes { [UInt8]($0) })
        }
        self.spcs = spcs
        key = try Self.contentKey(using: &random)
    }

    /// A key of random bytes.
    static func contentKey(using random: inout some RandomNumberGenerator) throws -> ContentKey {
        let (key, iv) = (Secret(random.bytes(16)), Secret(random.bytes(16)))
        guard let content = ContentKey(key: key, iv: iv) else { throw Diagnosis.loadFailed("no content key") }
        return content
    }

    /// Makes the CKC for one of the SPCs.
    func answer(_ number: Int) throws {
        try finish(module.open(spcs[number % spcs.count]))
    }

    /// CKCs per second of one thread's processor time.
    func rate(seconds: Double) throws -> Double {
        try 1 / Stopwatch.threadTime(perPieceFor: seconds) { try answer($0) }
    }

    /// Seconds of processor time for one CKC without its RSA operation.
    func timeBesideRSA(seconds: Double) throws -> Double {
        let payloadKeys = try spcs.map { try module.payloadKey(of: module.locate($0)) }
        return try Stopwatch.threadTime(perPieceFor: seconds) { number in
            let index = number % spcs.count
            try finish(module.context(of: module.locate(spcs[index]), payloadKey: payloadKeys[index]))
        }
    }

    /// Does only the RSA operation for one of the SPCs.
    func unwrap(_ number: Int) throws {
        _ = try module.payloadKey(of: module.locate(spcs[number % spcs.count]))
    }

    private func finish(_ context: ServerPlaybackContext) throws {
        var random = SystemRandomNumberGenerator()
        _ = try module.contentKeyContext(for: context, key: key, terms: terms, using: &random)
    }
}
