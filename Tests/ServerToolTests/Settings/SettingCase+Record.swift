import Foundation
import Testing

@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import LatchkeyVault
@testable import TestServers

/// The effects of the members of the record's settings.
extension SettingCase {
    static let record: [SettingCase] = [
        SettingCase("record.folder", base: recording, ["record.folder": #""b""#], "a", "b") { stage in
            _ = try await stage.license()
            return ["a", "b"].first {
                FileManager.default.fileExists(atPath: stage.stage.folder.file("\($0)/lock").path)
            }
                ?? "none"
        },
        SettingCase("record.destination", base: recording, ["record.destination": #""files:two""#], "one", "two") {
            stage in
            _ = try await stage.license()
            await stage.server.shared.record?.close(within: .seconds(120))
            return ["one", "two"].first {
                FileManager.default.fileExists(atPath: stage.stage.folder.file($0).path)
            }
                ?? "none"
        },
        SettingCase("record.megabytes", base: recording, ["record.megabytes": "16"], "1073741824", "16777216") {
            try await $0.stage.metric("latchkey_record_spool_limit_bytes").map { "\(Int($0))" } ?? "none"
        },
        SettingCase("record.sync", base: recording, ["record.sync": #""always""#], "written", "always") {
            $0.server.shared.record?.spool.settings.sync.rawValue ?? "none"
        },
        SettingCase("record.accounts", base: recording, ["record.accounts": #""pseudonyms""#], "anna", "nobody") {
            try await row($0).contains(#""account":"anna""#) ? "anna" : "nobody"
        },
        SettingCase("record.decisions", base: recording, ["record.decisions": #""all""#], "none", "decision") {
            try await row($0).contains(#""decision":{"#) ? "decision" : "none"
        },
    ]

    private static let recording = ["record.folder": #""a""#, "record.destination": #""files:one""#]

    /// The row of a license.
    private static func row(_ stage: SettingStage) async throws -> String {
        #expect(try await stage.license() == "200")
        let portion = try #require(try stage.server.shared.record?.spool.next())
        return String(decoding: try #require(portion.batch.lines.first).json, as: UTF8.self)
    }
}
