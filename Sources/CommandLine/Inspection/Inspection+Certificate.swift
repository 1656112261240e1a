import Foundation
import LatchkeyFairPlay

extension Inspection {
    init(_ report: CertificateReport) {
        self.init(kind: .certificate, facts: report.lines, problems: report.problems, report: report)
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
