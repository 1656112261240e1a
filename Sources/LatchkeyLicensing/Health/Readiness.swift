import Foundation
import LatchkeyCore
package import LatchkeyForms
package import LatchkeyHTTP
package import LatchkeySystem

/// Whether a node can answer for its tenants, by named checks.
///
///     let ready = Readiness([.init("keys") { keys.isEmpty ? "no tenant has a seed or a key" : nil }])
///
/// Source: `Documentation/LicenseServer.md` §9.2.
package struct Readiness: Sendable {
    /// One check.
    package struct Check: Sendable {
        package let name: String
        /// Why the check fails, in plain words without secrets; `nil` if it passes.
        package let objection: @Sendable () -> String?
        /// Whether a node is ready even if the check fails: it works, with limitations.
        package let isTolerable: Bool

        /// - Parameters:
        ///   - name: its name, such as `credentials`.
        ///   - isTolerable: whether a node is ready even if the check fails. Defaults to no.
        ///   - objection: why it fails; `nil` if it passes. Called for each request: must not wait.
        package init(_ name: String, isTolerable: Bool = false, objection: @escaping @Sendable () -> String?) {
            (self.name, self.isTolerable, self.objection) = (name, isTolerable, objection)
        }

        /// A store's outage does not make a node unready: earlier reads remain usable, and otherwise all nodes would leave together.
        package init(_ health: EngineHealth) {
            let place = health.tenant.map { " of \($0)" } ?? health.region.map { " in \($0)" }
            self.init(health.name + (place ?? ""), isTolerable: true) {
                let standing = health.standing
                guard let trouble = health.trouble else { return nil }
                let since = standing.since.map { " since \(DateText.text($0))" } ?? ""
                return "\(trouble)\(since): \(standing.lastError?.reason ?? "")"
            }
        }
    }

    /// The results of the checks.
    package struct Report: Sendable, Hashable {
        /// The checks in order, each with the reason it fails; `nil` if it passes.
        package let results: [Result]

        /// One check's result.
        package struct Result: Sendable, Hashable {
            package let name: String
            package let objection: String?
            package var isTolerable = false
        }

        package var isReady: Bool { results.allSatisfy { $0.objection == nil || $0.isTolerable } }

        /// Whether the node is ready, though with limitations.
        package var isDegraded: Bool { isReady && results.contains { $0.objection != nil } }

        /// `ready`, `degraded` or `unready`.
        package var word: String { isReady ? isDegraded ? "degraded" : "ready" : "unready" }
    }

    private let checks: [Check]

    package init(_ checks: [Check]) { self.checks = checks }

    /// Runs all checks now.
    package var report: Report {
        Report(
            results: checks.map {
                Report.Result(name: $0.name, objection: $0.objection(), isTolerable: $0.isTolerable)
            })
    }

    /// The reply to `GET /readyz`: 200 or 503; as JSON with every check if the query has `verbose`. During a store's outage a ready node
    /// says `degraded`, with 200.
    /// - Parameter showsDetails: whether a request for details gets them. Defaults to yes.
    package func response(to request: HTTPRequest, showsDetails: Bool = true) -> HTTPResponse {
        let report = report
        var response = HTTPResponse.text(report.isReady ? report.isDegraded ? "degraded\n" : "ok\n" : "not ready\n")
        if showsDetails, Self.isVerbose(request) {
            response = HTTPResponse(
                contentType: "application/json", bytes: Data((report.json.canonicalText + "\n").utf8))
        }
        response.status = report.isReady ? 200 : 503
        response.headers[.cacheControl] = "no-store"
        return response
    }

    /// Whether a request asks for every check.
    package static func isVerbose(_ request: HTTPRequest) -> Bool {
        request.queryItems.contains { $0.name == "verbose" }
    }

    /// The reply to `GET /livez` and `/healthz`: the process is alive, or it would not reply.
    package static let alive: HTTPResponse = {
        var response = HTTPResponse.text("ok\n")
        response.headers[.cacheControl] = "no-store"
        return response
    }()
}

extension Readiness.Report {
    package static let schema: JSONSchema = [
        "status": .text,
        // An operator of some tenants sees none.
        "checks?": [["name": .text, "status": .words(["passed", "degraded", "failed"]), "reason?": .text]],
    ]

    /// `{"checks":[{"name","status","reason"}],"status"}`.
    package var json: JSONValue {
        let checks = results.map { result in
            var members: [String: JSONValue] = ["name": .text(result.name)]
            let failed = result.isTolerable ? "degraded" : "failed"
            members["status"] = .text(result.objection == nil ? "passed" : failed)
            members["reason"] = result.objection.map { .text($0.onOneLine) }
            return JSONValue.object(members)
        }
        return .object(["status": .text(word), "checks": .array(checks)])
    }
}
