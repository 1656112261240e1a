import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

/// Tests of the simulated device behind the stand-ins, and of its error numbers.
@Suite(.timeLimit(.minutes(5))) struct StandInHardwareTests {
    /// Mistakes of an app, and the resulting error numbers.
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let certificate: Data?
        let identifier: Data?
        let number: Int
    }

    private static let movie = Data("movie".utf8)
    private static let mistakes = [
        Mistake(testDescription: "no certificate", certificate: Data(), identifier: movie, number: -42672),
        Mistake(testDescription: "a web page", certificate: Data("<html>".utf8), identifier: movie, number: -42679),
        Mistake(testDescription: "no identifier", certificate: nil, identifier: nil, number: -42673),
        Mistake(testDescription: "an empty identifier", certificate: nil, identifier: Data(), number: -42673),
        Mistake(testDescription: "a long identifier", certificate: nil, identifier: Data(count: 201), number: -42675),
    ]

    @Test(arguments: mistakes)
    func `a mistake gives the device's number`(_ mistake: Mistake) throws {
        let fixture = try StandInFixture()
        let exchange = StandInExchange(.streaming, on: fixture.stage)
        let error = #expect(throws: NSError.self) {
            try exchange.makeSPC(
                certificate: mistake.certificate ?? fixture.server.certificate,
                contentIdentifier: mistake.identifier)
        }
        #expect(error?.domain == AppleError.statusDomain)
        #expect(error?.code == mistake.number)
    }

    @Test func `a certificate without a registered device makes no SPC`() throws {
        let credentials = try TestCredentials.make(bits: 1024)
        let certificate = credentials.credential.certificate
        let exchange = StandInExchange(.streaming, on: StandInStage())
        let make = { try exchange.makeSPC(certificate: certificate.der, contentIdentifier: Self.movie) }
        #expect((#expect(throws: NSError.self) { try make() })?.code == -42679)
        StandInHardware.register(credentials)
        #expect(try make().count > 0)
        StandInHardware.forget(certificate)
        #expect((#expect(throws: NSError.self) { try make() })?.code == -42679)
    }

    @Test func `another SPC's license is malformed to the device`() throws {
        let fixture = try StandInFixture()
        let license = try fixture.license(for: StandInExchange(.streaming, on: fixture.stage))
        let other = StandInExchange(.streaming, on: fixture.stage)
        _ = try fixture.spc(of: other)
        #expect((#expect(throws: NSError.self) { try other.open(license) })?.code == -42668)
    }

    @Test func `a license for an earlier SPC of the request is obsolete`() throws {
        let fixture = try StandInFixture()
        let exchange = StandInExchange(.streaming, on: fixture.stage)
        let license = try fixture.license(for: exchange)
        _ = try fixture.spc(of: exchange)
        #expect((#expect(throws: Turndown.self) { try exchange.open(license) })?.cause == .obsolete)
    }

    @Test func `an SPC states its key's purpose`() throws {
        let fixture = try StandInFixture()
        let renewal = try fixture.server.context(of: fixture.spc(of: StandInExchange(.renewal, on: fixture.stage)))
        #expect(renewal.playback?.state == .leaseExpiring)
        let stored = try fixture.server.context(of: fixture.spc(of: StandInExchange(.persistable, on: fixture.stage)))
        #expect(stored.capabilities.contains(.offlineKey))
        let airPlay = StandInExchange(.streaming, destination: .airPlay, on: fixture.stage)
        #expect(try fixture.server.context(of: fixture.spc(of: airPlay)).destination == .airPlay)
    }

    @Test func `playback does not start with an expired lease`() throws {
        let fixture = try StandInFixture(terms: LicenseTerms(.lease(.seconds(60))))
        let exchange = StandInExchange(.streaming, on: fixture.stage)
        var key = try exchange.open(fixture.license(for: exchange))
        #expect(key.isUsable)
        fixture.time.advance(by: .seconds(60))
        #expect(!key.isUsable)
        #expect((#expect(throws: NSError.self) { try key.start() })?.code == -42656)
    }
}

extension StandInFixture {
    fileprivate func spc(of exchange: StandInExchange) throws -> Data {
        try exchange.makeSPC(certificate: server.certificate, contentIdentifier: Data("skd://demo/video".utf8))
    }

    fileprivate func license(for exchange: StandInExchange) throws -> Data {
        try server.license(for: spc(of: exchange))
    }
}
