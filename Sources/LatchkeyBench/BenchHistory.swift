import Foundation
import LatchkeySystem
import LatchkeyTerminal

/// One run of the bench, as stored in a line of its history.
struct BenchRun: Codable, Sendable, Equatable {
    /// A measurement; `nil` if it failed.
    struct Reading: Codable, Sendable, Equatable {
        let name: String
        let value: Double?
    }

    let date: Date
    /// `release` or `debug`: the figures of different builds are not comparable.
    let build: String
    let readings: [Reading]

    init(_ figures: [Figure], at date: Date, build: String = Self.thisBuild) {
        (self.date, self.build) = (date, build)
        readings = figures.map { Reading(name: $0.name, value: $0.value) }
    }

    static var thisBuild: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    func value(of name: String) -> Double? { readings.first { $0.name == name }?.value }
}

/// The runs in a file with one JSON object per line.
struct BenchHistory: Sendable {
    /// The oldest first.
    let runs: [BenchRun]
    /// The number of lines that are not runs.
    let unreadable: Int

    private static let limit = 64 << 20

    init(_ lines: Data) {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let read = lines.split(separator: UInt8(ascii: "\n")).map { try? decoder.decode(BenchRun.self, from: $0) }
        runs = read.compactMap(\.self).sorted { $0.date < $1.date }
        unreadable = read.count - runs.count
    }

    /// Appends a run to a file without changing its other lines.
    /// - Returns: the history with the run.
    /// - Throws: `FileError`.
    static func adding(_ run: BenchRun, to path: String, _ console: Console) throws -> BenchHistory {
        let file = URL(filePath: path)
        try OutputFile.makeFolder(file.deletingLastPathComponent())
        let isThere = FileManager.default.fileExists(atPath: file.path)
        var lines = isThere ? try InputFile.read(path, limit: limit) : Data()
        if let last = lines.last, last != UInt8(ascii: "\n") { lines.append(UInt8(ascii: "\n")) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        lines += try encoder.encode(run) + Data("\n".utf8)
        try OutputFile.write(lines, to: path, for: .everyone, console)
        return BenchHistory(lines)
    }
}
