import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyStores
import LatchkeySystem
import LatchkeyVault
import LatchkeyVendorWire

extension ServerShared {
    /// Opens the record that the configuration names; nothing without one.
    /// - Throws: `ServerProblems`.
    func openRecord(_ file: ConfigurationFile) async throws(ServerProblems) {
        guard let settings = file.settings.record else { return }
        var problems = ServerProblems()
        let opened = await problems.awaiting("record") { [self] in
            let destination = try file.recordDestination(settings) { [erasures] in erasures.pseudonym(of: $0, at: $1) }
            do {
                return try await file.threads.run("record.folder", within: .seconds(30)) { [self] in
                    try LicenseRecord(
                        settings, folder: file.path(settings.folder), node: node, to: destination,
                        pseudonyms: pseudonyms, metrics: metrics, log: log, timekeeper: timekeeper)
                }
            } catch {
                destination.close()
                throw error
            }
        }
        guard let opened else { throw problems }
        health.add(opened.health)
        record = opened
        metrics.beforeText { [weak opened] in opened?.fillMetrics() }
    }

    /// Keeps the row of an answer.
    /// - Returns: the answer; a refusal in its place where its row could not be kept and the settings say so.
    func recorded(_ answer: APIAnswer, _ call: APICall) async -> APIAnswer {
        guard let record else { return answer }
        return await recorded(answer, call, in: record)
    }

    private func recorded(_ answer: APIAnswer, _ call: APICall, in record: LicenseRecord) async -> APIAnswer {
        guard await !record.keep(answer.report, call.viewer) else { return answer }
        await answer.taken?.giveBack()
        return .unrecorded(answer.report, call)
    }
}

extension APIAnswer {
    /// The refusal of a license whose row cannot be kept.
    static func unrecorded(_ report: LicenseReport, _ call: APICall) -> APIAnswer {
        var report = report
        report.outcome = .refused(.recordUnavailable)
        return APIAnswer(.refusal(.recordUnavailable, requestID: call.requestID), report)
    }
}

extension LicenseRefusal {
    static let recordUnavailable = Self(
        .vendor(code: "recordUnavailable", status: 503), reason: "The license's row cannot be written to the record.",
        remedy: "Try again shortly.")
}

extension ConfigurationFile {
    /// Where the rows go.
    /// - Parameter digest: finds erased accounts in rows. Defaults to none, for a destination that gets no rows.
    /// - Throws: `Diagnosis`, `StoreError`, without a part of the address.
    func recordDestination(
        _ settings: ServerSettings.Record, digest: @escaping RecordErasure.Digest = { _, _ in nil }
    ) throws -> any RecordDestination {
        if settings.destination.hasPrefix("files:") {
            return RecordFiles(folder: path(String(settings.destination.dropFirst(6))), digest: digest)
        }
        guard case .postgresql(let address) = try StoreAddress(settings.destination).below(folder) else {
            throw Diagnosis(
                code: "recordDestination", reason: "The record's destination must be PostgreSQL or files.",
                remedy: "Use postgresql://… or files:PATH.")
        }
        return try PostgreSQLRecord(address, days: settings.days, digest: digest)
    }
}
