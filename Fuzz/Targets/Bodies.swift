import Foundation
import LatchkeyCore
import LatchkeyVendors

/// A reply's body: its recognized form, and the values that the client reads from it. Unrecognized bytes give no value.
func fuzzBody(_ data: Data) {
    let found = Recognition(data)
    require(!found.noun.isEmpty && found.layers.count <= 8, "no name, or more encodings than the limit")
    if let ckc = try? CKCDecoder.tolerant.contentKeyContext(from: data) {
        switch Recognition(ckc.revealed) {
        case .ckc, .laterVersion: break
        default: require(false, "taken for a CKC, and none")
        }
    }
    guard let certificate = try? CertificateDecoder.sniff.certificate(from: data) else { return }
    switch Recognition(certificate.bytes) {
    case .certificate, .bundle, .unknown: break
    default: require(false, "taken for a certificate, and none")
    }
}
