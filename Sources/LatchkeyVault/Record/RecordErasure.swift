import LatchkeyCore
import LatchkeyForms

/// An account to erase from the record: its rows stay, because bills count them, but no longer name a person.
///
/// Source: `Documentation/Server/Record.md` §5.
package struct RecordErasure: Sendable, Hashable {
    /// The keyed digest of an account as rows name it; `nil` if libcrypto makes none. A destination remembers this instead of the name.
    package typealias Digest = @Sendable (_ account: String, _ tenant: String) -> String?

    package let tenant: String
    /// How rows may name the account: by its name, and by its pseudonym.
    package let accounts: [String]
    package let digests: [String]
    /// Rows from this time on stay as they are, in milliseconds since 1970.
    package let end: Int64

    package init(_ accounts: Set<String>, of tenant: String, before end: Int64, digest: Digest) {
        self.tenant = tenant
        self.accounts = accounts.filter { !$0.isEmpty }.sorted()
        digests = Set(self.accounts.compactMap { digest($0, tenant) }).sorted()
        self.end = end
    }

    /// Whether it erases a row.
    package func covers(_ row: LicenseRecordRow) -> Bool {
        row.time < end && row.tenant.equalsByteForByte(tenant)
            && accounts.contains { $0.equalsByteForByte(row.account) }
    }
}

/// The erased accounts that a destination remembers, for rows that were still in a spool.
package struct RecordErasures: Sendable {
    /// How long they are remembered, in days.
    package static let days = 30

    /// The ends of erasures by their digests, by tenant.
    private var ends: [String: [String: Int64]] = [:]

    /// - Parameters:
    ///   - lines: a line for each erasure, as `line` makes them. Incomplete ones do not count.
    ///   - oldest: only erasures that ended then or later, in milliseconds since 1970. Defaults to all.
    package init(lines: String, since oldest: Int64 = 0) {
        for line in lines.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count == 3, let end = Int64(words[1]), end >= oldest else { continue }
            ends[words[2], default: [:]][words[0]] = max(end, ends[words[2]]?[words[0]] ?? end)
        }
    }

    package var isEmpty: Bool { ends.isEmpty }

    package static func line(_ digest: String, _ erasure: RecordErasure) -> String {
        "\(digest) \(erasure.end) \(erasure.tenant)\n"
    }

    /// The row without its account if that was erased; `nil` if the row stays as it is.
    package func erased(_ row: LicenseRecordRow, _ digest: RecordErasure.Digest) -> LicenseRecordRow? {
        guard !row.account.isEmpty, let ends = ends[row.tenant], ends.values.contains(where: { row.time < $0 }),
            let name = digest(row.account, row.tenant), let end = ends[name], row.time < end
        else { return nil }
        return row.erased
    }
}

extension LicenseRecordRow {
    /// The row without anything that names the viewer, or that leads to the viewer in a log.
    package var erased: Self {
        var row = self
        (row.account, row.device, row.address, row.session) = ("", "", "", "")
        (row.requestID, row.reason, row.decision) = ("", "", nil)
        return row
    }
}

/// A file of rows, in JSON lines, after an erasure.
struct ErasedLines {
    private(set) var bytes: [UInt8] = []
    /// How many rows changed.
    private(set) var count = 0
    /// How many lines may name the account, but cannot be read.
    private(set) var unread = 0

    /// - Returns: `nil` if the file does not name the account.
    init?(_ file: ArraySlice<UInt8>, _ erasure: RecordErasure) {
        let names = erasure.accounts.map { Array(JSONValue.quoted($0).utf8) }
        guard names.contains(where: { file.contains($0) }) else { return nil }
        bytes.reserveCapacity(file.count)
        for line in file.split(separator: SpoolFrame.newline) {
            if names.contains(where: { line.contains($0) }) {
                if let row = try? LicenseRecordRow(json: line) {
                    if erasure.covers(row) {
                        bytes += row.erased.json + [SpoolFrame.newline]
                        count += 1
                        continue
                    }
                } else {
                    unread += 1
                }
            }
            bytes += line + [SpoolFrame.newline]
        }
    }
}
