import Foundation
import LatchkeyFairPlay

extension Inspection {
    init(_ report: CertificateReport) {
        self.init(kind: .certificate, facts: report.lines, problems: report.problems, report: report)
    }

    /// A file of no known form, which may be one of the certificate bundles that Apple issues now.
    init(bundle bytes: Data, hasCertificates: Bool) {
        let what = hasCertificates ? "certificates inside a file of no public form" : "a file of no public form"
        let facts: [Fact] = [("Certificate", "\(bytes.count) bytes, \(what); perhaps a certificate bundle (.bin)")]
        self.init(kind: .certificate, facts: facts, problems: [.bundle], report: CertificateBundle(bytes: bytes.count))
    }
}

private struct CertificateBundle: Encodable, Sendable {
    let bytes: Int
    let found = "a certificate bundle, perhaps"
    let problems = [InspectionFinding.bundle]

    private enum CodingKeys: CodingKey { case bytes, found, problems }
}

extension InspectionFinding {
    /// A certificate that nobody but the device can look into.
    static let bundle = InspectionFinding(
        .warning, "certificateBundle", "The file is no DER certificate; it may be a bundle, whose form is not public.",
        "Check that it is the file that Apple issued (fps_certificate….bin); only a device can tell.")
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
