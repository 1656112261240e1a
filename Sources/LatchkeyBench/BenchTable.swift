import Foundation
import LatchkeyCore
import LatchkeyTerminal

/// The tables of the pages that state figures: what one run measured, with its commit, its machine and its date.
///
/// A table is between the lines `<!-- bench -->` and `<!-- /bench -->`, and is only written here. `<!-- bench: WORDS -->` takes the figures
/// whose names hold the words.
struct BenchTable: Sendable {
    /// The pages with tables, below the project's folder.
    static let pages = ["Documentation/Measurements.md", "Documentation/Server/Speed.md"]

    private let folder: URL
    private let origin: String

    /// - Parameters:
    ///   - folder: the project's.
    ///   - isWhole: whether everything is measured, as often as it takes.
    /// - Throws: `figuresMeanLittle` for a run whose figures are not reliable, and for changes without a commit.
    init(in folder: String, isWhole: Bool) throws(Diagnosis) {
        guard isWhole, BenchRun.thisBuild == "release" else {
            throw .figuresMeanLittle(
                "A brief run, a part of the bench and a build for debugging measure nothing that a page may state")
        }
        let git = try ToolRun.find("git")
        guard try ToolRun.output(of: git, ["-C", folder, "status", "--porcelain", "-uno"]).isEmpty else {
            throw .figuresMeanLittle("There are changes that no commit has")
        }
        let commit = try ToolRun.output(of: git, ["-C", folder, "rev-parse", "--short", "HEAD"])
        self.init(in: folder, commit: commit.trimmingCharacters(in: .whitespacesAndNewlines), at: Date())
    }

    init(in folder: String, commit: String, at date: Date) {
        self.folder = URL(filePath: folder)
        let day = date.formatted(.iso8601.year().month().day())
        origin =
            "Measured by `make bench` at \(commit) on \(day): \(Self.machine). Shares and differences are of one run."
    }

    /// Writes the figures into the pages.
    /// - Throws: `figuresMeanLittle` if a part of the run failed: then all pages stay as they are.
    func write(_ figures: [Figure], _ console: Console) throws {
        if let failed = figures.first(where: \.hasFailed) {
            throw Diagnosis.figuresMeanLittle("The part “\(failed.name)” failed, so the pages stay as they are")
        }
        let texts = try Self.pages.map { page in
            let file = folder.appending(path: page)
            return (file, try text(of: page, String(contentsOf: file, encoding: .utf8), figures))
        }
        for (file, text) in texts { try OutputFile.write(Data(text.utf8), to: file.path, for: .everyone, console) }
    }

    /// A page with the figures in its tables.
    /// - Throws: `pageWithoutTable` for a page that has no table, or one that does not end.
    func text(of name: String, _ page: String, _ figures: [Figure]) throws(Diagnosis) -> String {
        var (lines, isInside, tables): ([Substring], Bool, Int) = ([], false, 0)
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if !isInside || line == Self.end { lines.append(line) }
            if line == Self.end { isInside = false }
            guard let words = Self.words(of: line) else { continue }
            (isInside, tables) = (true, tables + 1)
            lines += table(figures.filter { words.isEmpty || $0.name.contains(words) }).map { $0[...] }
        }
        guard tables > 0, !isInside else { throw .pageWithoutTable(name) }
        return lines.joined(separator: "\n")
    }

    private static let end = "<!-- /bench -->"

    /// The words of a line that begins a table; empty for all figures.
    private static func words(of line: Substring) -> String? {
        guard line.hasPrefix("<!-- bench"), line.hasSuffix(" -->") else { return nil }
        let words = line.dropFirst(10).dropLast(4)
        return words.isEmpty ? "" : words.hasPrefix(": ") ? String(words.dropFirst(2)) : nil
    }

    private func table(_ figures: [Figure]) -> [String] {
        let rows = figures.map { figure in
            [figure.name, figure.value.map(figure.unit.text) ?? "not measured", figure.aimText ?? "–", figure.note]
                .map { $0.replacing("|", with: "\\|") }
        }
        return [origin, ""]
            + ([["What", "Measured", "Aim", "Made of"], ["---", "---", "---", "---"]] + rows).map {
                "| \($0.joined(separator: " | ")) |"
            }
    }

    /// The processor, and how many of it.
    private static var machine: String {
        let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        let model = lines.split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last
        let name = model.map { $0.trimmingCharacters(in: .whitespaces) } ?? "a processor without a name"
        return "\(ProcessInfo.processInfo.activeProcessorCount) processors of \(name)"
    }
}
