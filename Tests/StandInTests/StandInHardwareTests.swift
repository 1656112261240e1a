import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySimulation
import LatchkeyTesting
import StandInEngine
import Testing

/// The device behind all stand-ins, and its Apple-like numbers.
@Suite struct StandInHardwareTests {
    /// What an app may hand over by mistake, and the number that it gets.
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
    func `a mistake gets the number that a device reports`(_ mistake: Mistake) throws {
        let studio = try Studio()
        let exchange = StandInExchange(.streaming, on: studio.stage)
        let error = #expect(throws: NSError.self) {
            try exchange.makeSPC(
                certificate: mistake.certificate ?? studio.server.certificate,
                contentIdentifier: mistake.identifier)
        }
        #expect(error?.domain == AppleError.statusDomain)
        #expect(error?.code == mistake.number)
    }

    @Test func `a certificate that no device is registered for makes no SPC`() throws {
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

    @Test func `a license for another SPC is malformed to the device`() throws {
        let studio = try Studio()
        let license = try studio.license(for: StandInExchange(.streaming, on: studio.stage))
        let other = StandInExchange(.streaming, on: studio.stage)
        _ = try studio.spc(of: other)
        #expect((#expect(throws: NSError.self) { try other.open(license) })?.code == -42668)
    }

    @Test func `a license for an earlier SPC of the request is obsolete`() throws {
        let studio = try Studio()
        let exchange = StandInExchange(.streaming, on: studio.stage)
        let license = try studio.license(for: exchange)
        _ = try studio.spc(of: exchange)
        #expect((#expect(throws: Turndown.self) { try exchange.open(license) })?.cause == .obsolete)
    }

    @Test func `an SPC says what its key is asked for`() throws {
        let studio = try Studio()
        let renewal = try studio.server.context(of: studio.spc(of: StandInExchange(.renewal, on: studio.stage)))
        #expect(renewal.playback?.state == .leaseExpiring)
        let stored = try studio.server.context(of: studio.spc(of: StandInExchange(.persistable, on: studio.stage)))
        #expect(stored.capabilities.contains(.offlineKey))
        let airPlay = StandInExchange(.streaming, destination: .airPlay, on: studio.stage)
        #expect(try studio.server.context(of: studio.spc(of: airPlay)).destination == .airPlay)
    }

    @Test func `a lease that is over starts nothing`() throws {
        let studio = try Studio(terms: LicenseTerms(.lease(.seconds(60))))
        let exchange = StandInExchange(.streaming, on: studio.stage)
        var key = try exchange.open(studio.license(for: exchange))
        #expect(key.isUsable)
        studio.time.advance(by: .seconds(60))
        #expect(!key.isUsable)
        #expect((#expect(throws: NSError.self) { try key.start() })?.code == -42656)
    }
}

extension Studio {
    fileprivate func spc(of exchange: StandInExchange) throws -> Data {
        try exchange.makeSPC(certificate: server.certificate, contentIdentifier: Data("skd://demo/video".utf8))
    }

    fileprivate func license(for exchange: StandInExchange) throws -> Data {
        try server.license(for: spc(of: exchange))
    }
}
