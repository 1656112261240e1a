import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyServices
import LatchkeyTesting
import LatchkeyVendorWire
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Both services on a loopback host, a device with the same test credentials, and a clock that stands still.
struct Stage {
    static let credentials: TestCredentials = {
        do { return try TestCredentials.make(bits: 1024) } catch { preconditionFailure("\(error)") }
    }()

    static let keysJSON = Data(
        """
        {"keys":[
         {"uri":"skd://demo/video","keyId":"a0b1c2d3e4f5061728394a5b6c7d8e9f",
          "key":"00112233445566778899aabbccddeeff","iv":"0f1e2d3c4b5a69788796a5b4c3d2e1f0"},
         {"uri":"skd://demo/audio","keyId":"f1e2d3c4b5a697887766554433221100",
          "key":"ffeeddccbbaa99887766554433221100","iv":"000102030405060708090a0b0c0d0e0f"},
         {"uri":"skd://oLHC0+T1BhcoOUpbbH2Onw==","keyId":"a0b1c2d3e4f5061728394a5b6c7d8e9f",
          "key":"00112233445566778899aabbccddeeff","iv":"0f1e2d3c4b5a69788796a5b4c3d2e1f0"}]}
        """.utf8)

    /// The key of `skd://demo/video`.
    static let videoKey = ContentKey(
        key: Secret([0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff]),
        iv: Secret([0x0f, 0x1e, 0x2d, 0x3c, 0x4b, 0x5a, 0x69, 0x78, 0x87, 0x96, 0xa5, 0xb4, 0xc3, 0xd2, 0xe1, 0xf0]))

    static let videoKeyID = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"
    static let brand = "5f0c2a4e-7d1b-4c3e-9a86-0b1d2e3f4a5b"

    /// A time that no exchange takes, even if a thousand tests share two cores.
    static let patience = Duration.seconds(900)
    static let patientServer: HTTPServerConfiguration = {
        var configuration = HTTPServerConfiguration()
        configuration.exchangeDeadline = patience
        configuration.idleTimeout = patience
        configuration.headDeadline = patience
        return configuration
    }()

    let time: ManualTimekeeper
    let device: SimulatedDevice
    let vuDRM: VuDRMService
    let cloudDRM: CloudDRMService
    let host: ServiceHost
    let port: UInt16

    static func authority(_ policy: LicensePolicy = LicensePolicy()) throws -> LicenseAuthority {
        LicenseAuthority(
            module: KeyServerModule(credentials: [credentials.credential], derivation: InsecureTestDerivation()),
            keys: try ContentKeyStore(json: keysJSON), policy: policy, pool: WorkerPool(threads: 2),
            randomness: { SeededGenerator(seed: 3) })
    }

    /// Makes an SPC for a content identifier.
    func exchange(_ identifier: String) throws -> KeyExchange {
        var generator = SeededGenerator(seed: 7)
        return try device.exchange(for: ContentIdentifier(identifier), using: &generator)
    }

    /// Sends a request over the wire.
    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], _ body: Data? = nil) async throws
        -> Reply
    {
        try await Reply(to: method, "http://127.0.0.1:\(port)\(path)", headers, body)
    }
}

/// A reply as a client sees it; header names in lower case.
struct Reply {
    let status: Int
    let headers: [String: String]
    let body: Data

    /// Sends a request over the wire and waits as long as a busy machine may need.
    init(to method: String, _ url: String, _ headers: [String: String], _ body: Data?) async throws {
        var request = URLRequest(url: try #require(URL(string: url)))
        // Foundation on Linux ignores the initializer's value.
        request.timeoutInterval = Stage.patience.inSeconds
        request.httpMethod = method
        request.httpBody = body
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        status = http.statusCode
        self.headers = http.allHeaderFields.reduce(into: [:]) { $0["\($1.key)".lowercased()] = "\($1.value)" }
        self.body = data
    }

    /// The code at the beginning of a refusal's text.
    var code: String { String(decoding: body, as: UTF8.self).prefix { $0 != ":" }.description }
}

/// Runs both services while a test runs.
func withStage(
    vuDRM changeVuDRM: (inout VuDRMService) -> Void = { _ in },
    cloudDRM changeCloudDRM: (inout CloudDRMService) -> Void = { _ in },
    policy: LicensePolicy = LicensePolicy(), media: MediaHost? = nil,
    log: @escaping @Sendable (String) -> Void = { _ in }, _ body: (Stage) async throws -> Void
) async throws {
    let time = ManualTimekeeper()
    let authority = try Stage.authority(policy)
    var vuDRM = VuDRMService(ServiceEnvironment(authority: authority, time: time, log: log))
    var cloudDRM = CloudDRMService(ServiceEnvironment(authority: authority, time: time, log: log))
    vuDRM.client = "demo-client"
    cloudDRM.api.brandGuid = Stage.brand
    changeVuDRM(&vuDRM)
    changeCloudDRM(&cloudDRM)
    let host = ServiceHost(
        [vuDRM, cloudDRM], media: media, configuration: Stage.patientServer, time: time, log: log)
    let device = try SimulatedDevice(
        certificate: Stage.credentials.credential.certificate, applicationSecret: Stage.credentials.applicationSecret,
        timekeeper: time)
    let stage = Stage(
        time: time, device: device, vuDRM: vuDRM, cloudDRM: cloudDRM, host: host, port: try host.start())
    do {
        try await body(stage)
    } catch {
        await host.stop(within: .zero)
        throw error
    }
    await host.stop(within: .zero)
}
