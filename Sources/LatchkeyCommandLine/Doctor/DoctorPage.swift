import Latchkey
import LatchkeySimulation
import LatchkeySupport

/// Doctor's findings as a page: the cause first, then each step with its observation, its expected result and the remedy.
struct DoctorPage {
    private let report: DoctorReport
    private let vendor: String
    private let trace: TracePage

    /// - Parameters:
    ///   - vendor: the vendor's name.
    ///   - trace: the events of the run.
    init(_ report: DoctorReport, of vendor: String, _ trace: KeyTrace) {
        (self.report, self.vendor, self.trace) = (report, vendor, TracePage(trace))
    }

    var page: String {
        let title =
            report.cause.map { "\($0.step.rawValue): \($0.code ?? $0.result.rawValue)" }
            ?? (report.verdict == .right ? "Nothing is wrong" : "Not enough was seen")
        return HTML.page(
            title: "\(title) – latchkey doctor", heading: "The keys of a stream, step by step", summary: vendor,
            [cause, steps, TracePage.legend, trace.waterfalls, trace.table])
    }

    private var cause: HTML {
        guard let cause = report.cause else {
            return .element("p", report.verdict == .right ? ["class": "fine"] : [:], report.headline)
        }
        let sent =
            report.sentSecrets ? "An SPC or a credential was sent to a server." : "Nothing secret was sent to a server."
        return TraceProblem(cause).html(remark: sent)
    }

    private var steps: HTML {
        let columns: [HTML.Column] = [
            .heading("Step"), .text("Result"), .text("Seen"), .text("Expected"), .text("What to do"),
        ]
        let rows = report.checks.map { check -> [HTML] in
            let shown = TraceProblem(check)
            let result: HTML =
                check.result == .error
                ? .element("strong", ["class": "bad"], check.result.rawValue) : .text(check.result.rawValue)
            return [
                .text(check.step.rawValue), result, .text(shown.reason), .text(check.step.expectation),
                .text(shown.remedy),
            ]
        }
        return .section("Steps", [.table("Steps", columns, rows)])
    }
}

extension DoctorReport {
    /// The cause, then the other errors, for the top of a trace.
    var problems: [TraceProblem] {
        ([cause].compactMap(\.self) + checks.filter { $0.result == .error }).map { TraceProblem($0) }
    }
}

extension TraceProblem {
    init(_ check: Checkup) {
        self.init(
            stage: check.step.rawValue, code: check.code ?? check.result.rawValue, reason: check.reason,
            remedy: check.remedy ?? "")
    }
}

extension Checkup.Step {
    /// The expected result of a step.
    var expectation: String {
        switch self {
        case .settings: "Every setting that the vendor needs is there, and each address is an https URL."
        case .playlist: "Each playlist can be read, and its key tags name FairPlay keys and a method that FairPlay has."
        case .identifier: "Each key URI gives a content identifier of 2 to 200 bytes by the vendor's rule."
        case .token: "The token has the vendor's form, its time has begun and not ended, and it covers the key."
        case .spc: "The SPC is whole, and was made for the certificate of this license service."
        case .network: "The services' hosts have addresses, take connections, and present a trusted certificate."
        case .certificate: "The service gives a FairPlay certificate with an RSA key, and the SPC is made for it."
        case .lookup: "The entitlement or delivery service returns the values that the license request needs."
        case .session: "The session service opens the secure session, and keeps it."
        case .license: "The service answers each license request with a CKC that the device can open."
        case .media: "A segment of each key tag, period and rendition decrypts to samples that are valid."
        case .clock: "This machine and the servers agree within a minute."
        }
    }
}
