import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import StandInEngine
import Testing

@Suite struct StandInHardwareTests {
    @Test func `a certificate that no device is registered for makes no SPC`() throws {
        let credentials = try TestCredentials.make(bits: 1024)
        let exchange = StandInExchange(.streaming, on: StandInStage())
        #expect(throws: (any Error).self) {
            try exchange.makeSPC(
                certificate: credentials.credential.certificate.der, contentIdentifier: Data("movie".utf8))
        }
    }
}
