import Foundation

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// A running server with a record in memory, and its console in Chromium.
final class ConsoleReportsStage: Sendable {
    let record = SwitchedRecord { Int64(Date().timeIntervalSince1970 * 1_000) }
    private let test: TestServer
    private let pages: BrowserPages

    init() async throws {
        test = try await TestServer(record: .reporter(record))
        pages = try BrowserPages()
    }

    // Callers that wait for the record learn that it is down.
    deinit { record.set(.isAway) }

    /// The page of reports, with an operator signed in.
    func reports(width: Int = 1_600, isDark: Bool = false, _ search: String = "") async throws -> ChromiumPage {
        let page = try await pages.open(test.server.addresses.operators.url, width: width, isDark: isDark)
        try await page.signIn(TestServer.key(.security))
        try await page.value("location.hash = '#/reports\(search)'")
        return page
    }

    /// Some days of a service: accounts, contents, refusals, and concurrent viewers.
    func fill() {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        var rows: [LicenseRecordRow] = []
        for number in 0..<400 {
            let time = now - 60_000 - Int64(number) * 1_200_000
            var row = LicenseRecordRow(number % 9 == 0 ? .refusal : number % 3 == 0 ? .renewal : .license, time: time)
            (row.tenant, row.account, row.content) = ("demo", "viewer-\(number % 40)", "film-\(number % 12)")
            (row.device, row.country) = ("d-\(number % 50)", number % 4 == 0 ? "FR" : "DE")
            (row.requestID, row.session) = ("request-\(number)", "s-\(number % 60)")
            if row.event == .refusal { (row.code, row.reason) = ("sessionLimit", "Two streams are in use.") }
            row.position = RecordPosition(node: "node-a", spool: "00", sequence: UInt64(2_000 - number))
            rows.append(row)
            var viewers = LicenseRecordRow(.viewers, time: time)
            (viewers.tenant, viewers.count) = ("demo", 20 + number * 7 % 90)
            viewers.position = RecordPosition(node: "node-a", spool: "00", sequence: UInt64(5_000 - number))
            // Some hours without a count.
            if !(100..<140).contains(number) { rows.append(viewers) }
        }
        record.add(rows)
    }

    /// Keeps a page's picture as `NAME.png` in the folder of `LATCHKEY_PICTURES`, if there is one.
    func keep(_ page: ChromiumPage, _ name: String) async throws {
        guard let kept = ProcessInfo.processInfo.environment["LATCHKEY_PICTURES"],
            let png = try await page.picture(of: "body")
        else { return }
        try png.write(to: URL(filePath: kept).appending(path: "\(name).png"))
    }
}
