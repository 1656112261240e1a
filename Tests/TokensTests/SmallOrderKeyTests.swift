import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// Points of Ed25519 for which anybody can make signatures, and second spellings of points.
@Suite(.timeLimit(.minutes(1))) struct SmallOrderKeyTests {
    private static let zero = [UInt8](repeating: 0, count: 32)
    private static let prime = [0xed] + [UInt8](repeating: 0xff, count: 30) + [0x7f]

    private static func with(_ bytes: [UInt8], first: UInt8? = nil, sign: Bool = false) -> [UInt8] {
        var bytes = bytes
        if let first { bytes[0] = first }
        if sign { bytes[31] |= 0x80 }
        return bytes
    }

    /// The eight points of small order, by their y with both signs of x; two of the ten are not points at all.
    private static let small: [[UInt8]] = {
        let eighth = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"
        let other = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
        let ys = [
            zero, with(zero, first: 1), Array(Data(hexString: eighth) ?? Data()),
            Array(Data(hexString: other) ?? Data()),
            with(prime, first: 0xec),
        ]
        return ys.flatMap { [$0, with($0, sign: true)] }
    }()

    /// y from p to 2²⁵⁵ − 1, with both signs.
    private static let unreduced: [[UInt8]] = (0xed...0xff).flatMap { first in
        [with(prime, first: UInt8(first)), with(prime, first: UInt8(first), sign: true)]
    }

    private static func isTaken(_ point: [UInt8]) throws -> Bool {
        let good = try KeyPair(.ed25519).publicKey.numbers()
        guard case .ed25519(let bytes) = good else { return true }
        func jwk(_ id: String, _ x: [UInt8]) -> String {
            #"{"kty":"OKP","alg":"EdDSA","kid":"\#(id)","crv":"Ed25519","x":"\#(Base64URL.text(x))"}"#
        }
        let set = try KeySet(jwks: Data(#"{"keys":[\#(jwk("good", bytes)),\#(jwk("weak", point))]}"#.utf8))
        #expect(set.keys.contains { $0.id?.text == "good" })
        return set.keys.contains { $0.id?.text == "weak" }
    }

    @Test func `no point of small order is accepted as a key, in any encoding`() throws {
        let points = Self.small + Self.unreduced
        #expect(points.count == 48 && points.allSatisfy { $0.count == 32 })
        #expect(try points.filter { try Self.isTaken($0) } == [])
    }

    @Test func `nor is one in PEM`() throws {
        let prefix: [UInt8] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00]
        func key(_ point: [UInt8]) -> PublicKey? {
            let text = Data(prefix + point).base64EncodedString()
            return PublicKey(pem: Array("-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n".utf8))
        }
        #expect((Self.small + Self.unreduced).filter { key($0) != nil } == [])
        guard case .ed25519(let good) = try KeyPair(.ed25519).publicKey.numbers() else { return }
        #expect(key(good) != nil)
    }

    @Test func `made keys are taken`() throws {
        for _ in 0..<50 {
            guard case .ed25519(let bytes) = try KeyPair(.ed25519).publicKey.numbers() else { continue }
            #expect(try Self.isTaken(bytes))
        }
    }
}
