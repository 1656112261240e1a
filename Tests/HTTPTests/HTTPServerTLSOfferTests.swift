import LatchkeyHTTP
import TLSPeer
import Testing

/// The versions and ciphers of TLS that a server accepts.
@Suite(.timeLimit(.minutes(5))) struct HTTPServerTLSOfferTests {
    private static let old = "NORMAL:%COMPAT:-VERS-ALL:"
    private static let ciphers = "-CIPHER-ALL:"

    private func agreement(isRSA: Bool, offering offer: String) async throws -> String? {
        let identity = try SelfSigned(isRSA: isRSA)
        var agreement: String?
        try await withServer({ $0.tls = identity.tls }, answering: { .text($0.path) }) { port in
            agreement = try? await TLSConnection.open(port, offering: offer).agreement
        }
        return agreement
    }

    @Test(
        arguments: [
            "+VERS-TLS1.0", "+VERS-TLS1.1", "+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CBC",
            "+VERS-TLS1.2:-CIPHER-ALL:+AES-256-CBC",
            "+VERS-TLS1.2:-CIPHER-ALL:+3DES-CBC", "+VERS-TLS1.2:-CIPHER-ALL:+AES-128-CCM", "+VERS-TLS1.2:-KX-ALL:+RSA",
            "+VERS-TLS1.2:-KX-ALL:+DHE-RSA", "+VERS-TLS1.3:-GROUP-ALL:+GROUP-FFDHE2048",
        ], [false, true])
    func `weak TLS offers are refused`(_ offer: String, _ isRSA: Bool) async throws {
        #expect(try await agreement(isRSA: isRSA, offering: Self.old + offer) == nil)
    }

    @Test(
        arguments: [
            ("+VERS-TLS1.2:-CIPHER-ALL:+AES-128-GCM", "AES-128-GCM"),
            ("+VERS-TLS1.2:-CIPHER-ALL:+AES-256-GCM", "AES-256-GCM"),
            ("+VERS-TLS1.2:-CIPHER-ALL:+CHACHA20-POLY1305", "CHACHA20-POLY1305"), ("+VERS-TLS1.3", "TLS1.3"),
            ("+VERS-TLS1.2:-GROUP-ALL:+GROUP-SECP256R1", "ECDHE-SECP256R1"),
            ("+VERS-TLS1.3:-GROUP-ALL:+GROUP-SECP384R1", "ECDHE-SECP384R1"), ("+VERS-TLS1.0:+VERS-TLS1.2", "TLS1.2"),
        ], [false, true])
    func `ECDHE with AEAD passes, in TLS 1.2 and 1.3`(_ offer: (String, String), _ isRSA: Bool) async throws {
        let agreement = try #require(await agreement(isRSA: isRSA, offering: Self.old + offer.0))
        #expect(agreement.contains(offer.1))
        #expect(agreement.contains("ECDHE"))
    }
}
