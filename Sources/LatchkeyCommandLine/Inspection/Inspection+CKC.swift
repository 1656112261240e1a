import LatchkeyFairPlay

extension Inspection {
    init(_ report: CKCReport) {
        let inside = "only the device whose SPC it answers can look: latchkey open-ckc --state FILE"
        let whole = report.payloadLength.map {
            [("IV", report.iv ?? "–"), ("Payload", "\($0) bytes, encrypted"), ("Inside", inside)]
        }
        let first = ("CKC", "\(report.byteCount) bytes" + (whole == nil ? "" : ", version 1"))
        self.init(kind: .ckc, facts: [first] + (whole ?? []), problems: report.problems, report: report)
    }
}
