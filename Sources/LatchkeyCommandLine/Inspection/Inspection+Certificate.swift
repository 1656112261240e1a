import Foundation
import LatchkeyFairPlay
import LatchkeyVendors

extension Inspection {
    init(_ report: CertificateReport) {
        self.init(kind: .certificate, facts: report.lines, problems: report.problems, report: report)
    }

    /// A file of no known form, which may be one of the certificate bundles that Apple issues now.
    init(bundle bytes: Data, _ found: Recognition) {
        let problems = [InspectionFinding.bundle(found)]
        let facts: [Fact] = [("Certificate", "\(bytes.count) bytes, \(found.noun)")]
        self.init(
            kind: .certificate, facts: facts, problems: problems,
            report: CertificateBundle(bytes: bytes.count, found: found.noun, problems: problems))
    }
}

private struct CertificateBundle: Encodable, Sendable {
    let bytes: Int
    let found: String
    let problems: [InspectionFinding]
}

extension InspectionFinding {
    /// The key that makes every SPC readable is where anyone may get it.
    static func privateKeyPublished(_ found: Recognition) -> Self {
        Self(
            .error, "privateKeyPublished",
            "The certificate's address gives \(found.noun) to everyone: anyone who has the key can read the SPCs of all devices.",
            "Take the file away now, have Apple issue another certificate for a new key, and keep the key on the key server alone."
        )
    }

    /// A certificate that only the device can open.
    static func bundle(_ found: Recognition) -> Self {
        Self(
            .warning, "certificateBundle",
            "The certificate is \(found.noun), and no DER; it may be a bundle, whose form is not public.",
            "Check that it is the file that Apple issued (fps_certificate….bin); only a device can tell.")
    }
}

extension CertificateReport {
    fileprivate var lines: [Inspection.Fact] {
        guard let subject, let issuer, let sha1, let rsaBits else { return [("Certificate", "\(byteCount) bytes")] }
        let dates = [notBefore, notAfter].map { $0?.formatted(.iso8601) ?? "–" }
        let key = matchesPrivateKey.map { [("Private key", $0 ? "belongs to it" : "does not belong to it")] }
        return [
            ("Certificate", "RSA \(rsaBits), for \(subject)"), ("Issued by", issuer), ("SHA-1", sha1),
            ("Valid", dates.joined(separator: " to ")),
            ("Use", isTestCertificate == true ? "Latchkey's tests only" : "not a test certificate"),
        ] + (key ?? [])
    }
}
