import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import LatchkeyTesting
import Testing

/// One vendor's service on a loopback host, with the device, keys and clock of `Stage`.
struct ServiceStage<Service: VendorService> {
    let time: ManualTimekeeper
    let device: SimulatedDevice
    let service: Service
    let port: UInt16

    /// The codes of the warnings so far.
    var warnings: [String] { service.warnings.map(\.code) }

    /// The video key's URI at this service; it is the first of the keys.
    var keyURI: KeyURI {
        let keys = service.environment.authority.keys.keys
        return KeyURI(keys.first.map { service.keyURI(for: $0, at: "127.0.0.1:\(port)") } ?? "")
    }

    /// Makes an SPC for a content identifier.
    func exchange(_ identifier: String) throws -> KeyExchange { try exchange(ContentIdentifier(identifier)) }

    func exchange(_ identifier: ContentIdentifier) throws -> KeyExchange {
        var generator = SeededGenerator(seed: 7)
        return try device.exchange(for: identifier, using: &generator)
    }

    /// Whether a CKC gives the video key to the device that asked.
    func opensVideo(_ ckc: Data?, _ exchange: KeyExchange) throws -> Bool {
        try exchange.open(try #require(ckc), at: time).contentKey == Stage.videoKey
    }

    /// Sends a request over the wire; the path is the vendor's own.
    func send(_ method: String, _ path: String, _ headers: [String: String] = [:], _ body: Data? = nil) async throws
        -> Reply
    {
        try await Reply(to: method, "http://127.0.0.1:\(port)/\(service.identifier)\(path)", headers, body)
    }
}

extension Stage {
    /// The application certificate, DER.
    static var certificate: Data { credentials.credential.certificate.der }
}

extension Reply {
    var text: String { String(decoding: body, as: UTF8.self) }

    /// The text of a member of a JSON object.
    func member(_ name: String) throws -> String? {
        (try JSONSerialization.jsonObject(with: body) as? [String: Any]).flatMap { $0[name] }.map { "\($0)" }
    }

    /// The bytes of a base64 member of a JSON object.
    func payload(_ name: String) throws -> Data? { try member(name).flatMap { Data(base64Encoded: $0) } }
}

/// Runs one service while a test runs.
func withService<Service: VendorService>(
    policy: LicensePolicy = LicensePolicy(), _ make: (ServiceEnvironment) -> Service,
    _ change: (inout Service) -> Void = { _ in },
    _ body: (ServiceStage<Service>) async throws -> Void
) async throws {
    let time = ManualTimekeeper()
    var service = make(ServiceEnvironment(authority: try Stage.authority(policy), time: time))
    change(&service)
    let host = ServiceHost([service], configuration: Stage.patientServer, time: time)
    let device = try SimulatedDevice(
        certificate: Stage.credentials.credential.certificate, applicationSecret: Stage.credentials.applicationSecret,
        timekeeper: time)
    let stage = ServiceStage(time: time, device: device, service: service, port: try host.start())
    do {
        try await body(stage)
    } catch {
        await host.stop(within: .zero)
        throw error
    }
    await host.stop(within: .zero)
}

/// Percent-encoded as `Documentation/Vendors/README.md` §0 asks.
func formEncoded(_ text: String) -> String {
    text.utf8.map { byte in
        let isPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~".utf8.contains(byte)
        return isPlain ? String(UnicodeScalar(byte)) : "%" + [byte].hexString.uppercased()
    }.joined()
}

/// A JWT with a signature of zeros.
func jwt(_ claims: String, header: String = #"{"alg":"HS256","typ":"JWT"}"#) -> String {
    [Data(header.utf8), Data(claims.utf8), Data(count: 32)].map { $0.base64URL }.joined(separator: ".")
}

extension Data {
    var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
