import Foundation
import LatchkeyCore
import Testing

@Suite struct DiagnosisTests {
    @Test func `every kind has its own code and number, in its section's range`() {
        let all = Diagnosis.Kind.all
        #expect(Set(all.map(\.rawValue)).count == all.count && Set(all.map(\.number)).count == all.count)
        #expect(all.map(\.number) == all.map(\.number).sorted())
        #expect(all.allSatisfy { 100..<600 ~= $0.number && $0.page.contains("#") })
    }

    @Test(arguments: Diagnosis.Kind.all)
    func `a kind is found by code and number, and states its event and remedy`(_ kind: Diagnosis.Kind) {
        #expect(Diagnosis.Kind(number: kind.number) == kind)
        #expect(Diagnosis.Kind(rawValue: kind.rawValue).number == kind.number)
        #expect(kind.meaning.hasSuffix(".") && kind.remedy.hasSuffix("."))
        #expect(!kind.remedy.dropLast().contains(". "))
    }

    @Test func `an app's own code is a kind with no number or page`() {
        let own = Diagnosis.Kind(rawValue: "an app's own")
        #expect(own.number == 1 && own.meaning.isEmpty && !own.remedy.isEmpty && own != .forbidden)
        #expect(Diagnosis.Kind(number: 1) == nil && own.page == "Documentation/Errors.md")
    }

    @Test func `a diagnosis takes missing values from its kind`() {
        let busy = Diagnosis(.rateLimited, "Too many.")
        #expect(busy.code == "rateLimited" && busy.isRetryable && busy.remedy == Diagnosis.Kind.rateLimited.remedy)
        let own = Diagnosis(.rateLimited, "Too many.", remedy: "Stop.", isRetryable: false)
        #expect(own.remedy == "Stop." && !own.isRetryable && "\(own)" == "rateLimited: Too many. Stop.")
    }

    /// The documentation of each public kind, by its name.
    private static func comments() throws -> [String: [String]] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/LatchkeyCore/Diagnosis")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("Kind+") }
        var found: [String: [String]] = [:]
        for name in names {
            var comment: [String] = []
            for line in try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8).split(
                separator: "\n")
            {
                if let text = line.wholeMatch(of: /\s*\/\/\/ ?(.*)/) {
                    comment.append(String(text.1))
                } else {
                    let declaration = /(?:public|package) static let (\w+) =/
                    if let kind = line.firstMatch(of: declaration) { found[String(kind.1)] = comment }
                    comment = []
                }
            }
        }
        return found
    }

    @Test func `each kind's documentation gives its event, its statuses and the app's task`() throws {
        let comments = try Self.comments()
        #expect(Set(comments.keys) == Set(Diagnosis.Kind.all.map(\.rawValue)))
        for (kind, comment) in comments {
            let what = comment.prefix { !$0.isEmpty }.joined(separator: " ")
            #expect(what.hasSuffix(".") && what.split(separator: " ").count >= 6, "\(kind): \(what)")
            for part in ["- Status: ", "- App: "] {
                let text = comment.first { $0.hasPrefix(part) }?.dropFirst(part.count) ?? ""
                #expect(text.split(separator: " ").count >= 2 || text.contains(/\d{3}/), "\(kind): \(part)")
            }
        }
    }

    @Test func `the page of errors lists each kind with its number, meaning and remedy, and nothing else`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let page = try String(contentsOf: root.appendingPathComponent("Documentation/Errors.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.contains(/^\| \d{3} \|/) }.map(String.init)
        let expected = Diagnosis.Kind.all.map { kind in
            let retry = kind.isRetryable ? " ↻" : ""
            return "| \(kind.number) | `\(kind.rawValue)`\(retry) | \(kind.meaning) | \(kind.remedy) |"
        }
        #expect(rows == expected)
        for kind in Diagnosis.Kind.all {
            let section = kind.page.split(separator: "#").last?.replacing("-", with: " ") ?? ""
            #expect(page.lowercased().contains("\n## \(section)\n"))
        }
    }
}
