import Latchkey
import LatchkeySimulation
import LatchkeySupport

/// Doctor's findings as a page: the cause first, then each step with its observation, and if that is not right, the expected result and
/// the remedy.
struct DoctorPage {
    private let report: DoctorReport
    private let vendor: String
    private let trace: TracePage
    private let hasTrace: Bool

    /// - Parameters:
    ///   - vendor: the vendor's name.
    ///   - trace: the events of the run.
    init(_ report: DoctorReport, of vendor: String, _ trace: KeyTrace) {
        (self.report, self.vendor, self.trace) = (report, vendor, TracePage(trace))
        hasTrace = !self.trace.waterfalls.source.isEmpty
    }

    var page: String {
        let title =
            report.cause.map { "\($0.step.rawValue): \($0.code ?? $0.result.rawValue)" }
            ?? (report.verdict == .right ? "Nothing is wrong" : "Not enough was seen")
        return HTML.page(
            title: "\(title) – latchkey doctor", heading: "The keys of a stream, step by step", summary: vendor,
            [verdict, steps, hasTrace ? TracePage.legend : .none, trace.waterfalls, trace.table])
    }

    private var verdict: HTML {
        if let cause = report.cause, report.verdict != .unknown {
            return TraceProblem(cause).html(remark: report.sent ?? "")
        }
        guard report.verdict == .unknown else { return .element("p", ["class": "fine"], report.headline) }
        let unseen = TraceProblem(
            stage: "", code: "", reason: report.unseen, remedy: report.unseenRemedies.joined(separator: " "))
        return .group([
            .element("div", ["class": "doubt"], [unseen.html("Not enough was seen")]),
            report.cause.map { TraceProblem($0).html(remark: report.sent ?? "") } ?? .none,
        ])
    }

    /// A list: on a phone, a table would hide its sentences beyond the right edge.
    private var steps: HTML {
        let rows = report.checks.map { check -> HTML in
            let shown = TraceProblem(check)
            let isWrong = [.warning, .error].contains(check.result)
            let look = check.result == .error ? "bad" : isWrong || check.result == .unseen ? "doubt" : "soft"
            let expected = "Expected: \(check.step.expectation)"
            return .element(
                "li", [:],
                [
                    .element("strong", [:], check.step.rawValue),
                    .element("span", ["class": look], check.result.rawValue),
                    .element(
                        "div", [:],
                        [.element("p", [:], shown.reason)]
                            + (isWrong ? [.element("p", ["class": "soft"], expected)] : [])
                            + (shown.remedy.isEmpty
                                ? []
                                : [.element("p", [:], [.element("strong", [:], "What to do: "), .text(shown.remedy)])])),
                ])
        }
        return .section("Steps", [.element("ol", ["class": "steps"], rows)])
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
