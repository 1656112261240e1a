import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyDevice

@Suite struct KeyVaultTests {
    private let timekeeper = ManualTimekeeper()
    private let vault: KeyVault
    private let setting = ExchangeSetting.small
    private static let day = Duration.seconds(86_400)

    init() { vault = KeyVault(timekeeper: timekeeper) }

    @Test(
        arguments: [
            .persistent, .persistentFor(Self.day), .dualExpiry(storage: Self.day * 30, playback: Self.day),
        ] as [LicenseTerms.Validity], [nil, .type1, .notRequired] as [HDCPRequirement?])
    func `a stored key opens again with its key and terms`(
        validity: LicenseTerms.Validity, hdcp: HDCPRequirement?
    ) throws {
        let terms = LicenseTerms(validity, hdcp: hdcp)
        let stored = try persistableKey(terms, seed: 7)
        timekeeper.advance(by: .seconds(3_600))
        let key = try KeyVault(timekeeper: timekeeper).open(stored)
        #expect(key.contentKey == content(seed: 7))
        #expect(key.terms == terms)
        #expect(key.acceptedAt.date == timekeeper.date - 3_600)
        #expect(key.startedAt == nil)
    }

    @Test(
        arguments: [
            .unlimited, .lease(.seconds(60)), .rental(.seconds(60)),
            .leaseAndRental(lease: .seconds(60), rental: .seconds(60)),
        ] as [LicenseTerms.Validity])
    func `a key that is not persistable cannot be stored`(validity: LicenseTerms.Validity) throws {
        let rejection = #expect(throws: DeviceError.self) { try persistableKey(LicenseTerms(validity)) }
        #expect(rejection?.kind == .notPersistable)
    }

    @Test func `the CKC of another exchange is not stored`() throws {
        let (_, ckc) = try exchange(LicenseTerms(.persistent))
        let (other, _) = try exchange(LicenseTerms(.persistent))
        let rejection = #expect(throws: DeviceError.self) { try vault.persistableKey(from: ckc, of: other) }
        #expect(rejection?.kind == .wrongSPC)
    }

    @Test func `a CKC that was stored in place of the persistable key is rejected as such`() throws {
        let (_, ckc) = try exchange(LicenseTerms(.persistent))
        let rejection = #expect(throws: DeviceError.self) { try vault.open(ckc) }
        #expect(rejection?.kind == .isACKC)
        #expect(rejection?.systemNumber == -42803)
    }

    @Test func `a stored key of another device is rejected`() throws {
        let stored = try persistableKey(LicenseTerms(.persistent))
        let other = KeyVault(identifier: Secret("latchkey-simulator-2"), timekeeper: timekeeper)
        let rejection = #expect(throws: DeviceError.self) { try other.open(stored) }
        #expect(rejection?.kind == .foreign)
    }

    @Test func `a stored key of another form is rejected, as after a security update`() throws {
        var stored = try persistableKey(LicenseTerms(.persistent))
        stored[11] = 0
        let rejection = #expect(throws: DeviceError.self) { try vault.open(stored) }
        #expect(rejection?.kind == .oldFormat)
        #expect(rejection?.systemNumber == -42799)
    }

    @Test func `a stored key with a flipped bit is rejected`() throws {
        let stored = try persistableKey(LicenseTerms(.persistent))
        let accepted = (0..<stored.count * 8).filter { bit in
            var damaged = stored
            damaged[bit / 8] ^= 1 << (bit % 8)
            return (try? vault.open(damaged)) != nil
        }
        #expect(accepted.isEmpty)
    }

    @Test func `a truncated stored key is rejected`() throws {
        let stored = try persistableKey(LicenseTerms(.persistent))
        let kinds = Set((0..<stored.count).map { count in rejection(of: stored.prefix(count)) })
        #expect(kinds == [.damaged])
        #expect(rejection(of: stored + [0]) == .damaged)
    }

    @Test(
        arguments: [
            (.persistent, 1_000_000, true), (.persistentFor(.seconds(60)), 59, true),
            (.persistentFor(.seconds(60)), 60, false),
            (.dualExpiry(storage: .seconds(60), playback: .seconds(10)), 59, true),
            (.dualExpiry(storage: .seconds(60), playback: .seconds(10)), 60, false),
        ] as [(LicenseTerms.Validity, Int, Bool)])
    func `a stored key opens within its time of storage`(
        validity: LicenseTerms.Validity, seconds: Int, opens: Bool
    ) throws {
        let stored = try persistableKey(LicenseTerms(validity))
        timekeeper.advance(by: .seconds(seconds))
        #expect(rejection(of: stored) == (opens ? nil : .expired))
    }

    @Test func `the first start of a dual expiry replaces the stored key by one of the second window`() throws {
        let terms = LicenseTerms(.dualExpiry(storage: Self.day * 30, playback: Self.day))
        let stored = try persistableKey(terms)
        timekeeper.advance(by: Self.day * 29)
        let started = try vault.start(stored)
        let replacement = try #require(started.replacement)
        #expect(rejection(of: stored) == .superseded)
        #expect(started.key.canDecrypt(at: timekeeper))

        // The second window starts at the first playback and extends beyond the end of the first window.
        timekeeper.advance(by: Self.day - .seconds(1))
        #expect(started.key.canDecrypt(at: timekeeper))
        #expect(try vault.start(replacement).replacement == nil)
        timekeeper.advance(by: .seconds(1))
        #expect(!started.key.canDecrypt(at: timekeeper))
        #expect(rejection(of: replacement) == .expired)
    }

    @Test func `a stored key without a second window is not replaced`() throws {
        let stored = try persistableKey(LicenseTerms(.persistentFor(.seconds(60))))
        let started = try vault.start(stored)
        #expect(started.replacement == nil)
        timekeeper.advance(by: .seconds(60))
        #expect(started.key.canDecrypt(at: timekeeper))
        #expect(rejection(of: stored) == .expired)
    }

    @Test func `a device after a reset does not know a first start`() throws {
        let stored = try persistableKey(LicenseTerms(.dualExpiry(storage: Self.day, playback: .seconds(60))))
        _ = try vault.start(stored)
        #expect(try KeyVault(timekeeper: timekeeper).open(stored).startedAt == nil)
    }

    @Test func `opening a stored key starts no window`() throws {
        let stored = try persistableKey(LicenseTerms(.dualExpiry(storage: Self.day, playback: .seconds(60))))
        _ = try vault.open(stored)
        timekeeper.advance(by: .seconds(120))
        #expect(rejection(of: stored) == nil)
    }

    @Test func `a key is stored once per download`() throws {
        let (exchange, ckc) = try exchange(LicenseTerms(.dualExpiry(storage: Self.day, playback: .seconds(60))))
        let first = try vault.persistableKey(from: ckc, of: exchange)
        let second = try vault.persistableKey(from: ckc, of: exchange)
        _ = try vault.start(first)
        #expect(rejection(of: second) == nil)
    }

    private func rejection(of stored: Data) -> DeviceError.Kind? {
        do throws(DeviceError) {
            _ = try vault.open(stored)
            return nil
        } catch {
            return error.kind
        }
    }

    private func persistableKey(_ terms: LicenseTerms, seed: UInt64 = 1) throws -> Data {
        let (exchange, ckc) = try exchange(terms, seed: seed)
        return try vault.persistableKey(from: ckc, of: exchange)
    }

    private func exchange(_ terms: LicenseTerms, seed: UInt64 = 1) throws -> (KeyExchange, ckc: [UInt8]) {
        var generator = SystemRandomNumberGenerator()
        let exchange = try setting.device.exchange(for: "asset", options: .storing, using: &generator)
        return (exchange, try setting.module.answer(exchange, with: content(seed: seed), terms))
    }

    private func content(seed: UInt64) -> ContentKey {
        var generator = SeededGenerator(seed: seed)
        return .random(using: &generator)
    }
}
