import LatchkeyForms
import LatchkeyTesting

/// A server's answer, to be compared with a description in OpenAPI.
struct DescribedAnswer: Sendable {
    /// The method, and the path as in the description.
    let method, path: String
    let status: Int
    let body: String
    /// The request's body.
    var request = ""

    private var json: JSONValue {
        .object([
            "method": .text(method), "path": .text(path), "status": .number(Double(status)), "body": .text(body),
            "request": .text(request),
        ])
    }

    /// The problems of a description and of answers by it, line by line.
    /// - Parameter isWhole: whether the answers must have every described member.
    static func problems(
        _ description: JSONValue, _ answers: [DescribedAnswer], isWhole: Bool = false
    ) async throws -> [String] {
        let folder = try TemporaryFolder()
        let file = JSONValue.object([
            "description": description, "answers": .array(answers.map(\.json)), "isWhole": .flag(isWhole),
        ])
        let path = try folder.write(file.canonicalText, to: "given.json")
        let text = try await PythonRun.output(PythonRun.file("Tests/Support/OpenAPI/check_answers.py"), path)
        return text.split(separator: "\n").map(String.init)
    }
}
