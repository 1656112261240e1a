import AVFoundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyMedia
import LatchkeyPlayback
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine

/// A stage with the demo asset, a manual clock, and a key server in the same process.
struct StandInFixture: Sendable {
    let stage: StandInStage
    let time: ManualTimekeeper
    let server: KeyServer

    /// The media is decoded only for the first playback of a stream with the same keys.
    private static let decodings = DecodingMemory()

    /// - Parameters:
    ///   - behavior: the behavior of the players.
    ///   - terms: the terms of every license.
    init(
        _ behavior: StandInBehavior = StandInBehavior(), terms: LicenseTerms = LicenseTerms(),
        callbackLimit: Duration = .seconds(60)
    ) throws {
        time = ManualTimekeeper()
        stage = StandInStage(
            behavior, timekeeper: time, reference: try DemoAsset.reference(), decodings: Self.decodings,
            callbackLimit: callbackLimit)
        server = try KeyServer(terms: terms)
    }

    init(_ misbehavior: Misbehavior, terms: LicenseTerms = LicenseTerms()) throws {
        try self.init(StandInBehavior([misbehavior]), terms: terms)
    }

    var log: StandInLog { stage.log }

    static func playlist(of asset: DemoAsset) -> URL {
        DemoAsset.folder.appending(path: "\(asset.rawValue)/master.m3u8")
    }
}

/// A key server with the keys of the demo asset. It answers every SPC.
struct KeyServer: Sendable {
    /// All tests share one RSA key, because making one is slow.
    private static let credentials = Result {
        let credentials = try TestCredentials.make(bits: 1024)
        StandInHardware.register(credentials)
        return credentials
    }

    let certificate: Data
    private let module: KeyServerModule
    private let keys: ContentKeyStore
    private let terms: Locked<LicenseTerms>

    init(terms: LicenseTerms) throws {
        let credentials = try Self.credentials.get()
        certificate = credentials.credential.certificate.der
        module = KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation())
        keys = try ContentKeyStore(contentsOf: DemoAsset.folder.appending(path: "keys.json"))
        self.terms = Locked(terms)
    }

    func grant(_ terms: LicenseTerms) { self.terms.withLock { $0 = terms } }

    func context(of spc: Data) throws -> ServerPlaybackContext { try module.open(spc) }

    /// Makes the CKC for an SPC whose asset ID is the key's URI.
    func license(for spc: Data) throws -> Data {
        let context = try context(of: spc)
        guard case .one(let key) = keys.key(named: context.assetID.description) else {
            throw CocoaError(.fileNoSuchFile)
        }
        var generator = CryptographicGenerator()
        return Data(
            try module.contentKeyContext(
                for: context, key: key.content, terms: terms.withLock { $0 }, using: &generator))
    }
}
