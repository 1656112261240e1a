public import LatchkeyCore
import LatchkeySystem

/// All problems of a configuration, with their places.
public struct ServerProblems: DiagnosableError {
    struct Problem: Sendable {
        /// Where, such as `tenants.acme.tokens`.
        let place: String
        let reason: String
        let remedy: String

        init(_ place: String, _ reason: String, _ remedy: String) {
            self.place = place
            self.reason = reason
            self.remedy = remedy
        }

        init(_ place: String, _ error: some DiagnosableError) { self.init(place, error.reason, error.remedy) }
    }

    private(set) var problems: [Problem] = []

    public var code: String { "configurationInvalid" }
    /// On one line, because a terminal shows no line end of an error.
    public var reason: String { lines.joined(separator: " ") }
    /// Each problem with its place and its remedy, and with a number if there are several.
    public var lines: [String] {
        let texts = problems.map { "\($0.place.isEmpty ? "" : $0.place + ": ")\($0.reason) \($0.remedy)" }
        return texts.count < 2 ? texts : zip(1..., texts).map { "(\($0)) \($1)" }
    }
    public var remedy: String { "Correct the configuration, and run latchkey-server run --check." }
    var isEmpty: Bool { problems.isEmpty }

    mutating func add(_ problem: Problem) { problems.append(problem) }

    /// Takes the problems of a part.
    mutating func add(_ others: ServerProblems) { problems += others.problems }

    /// Does the work, which reads files, on a thread for files, and takes its problems.
    /// - Parameter limit: how long it may take; `nil` for the usual.
    /// - Returns: `nil` if there is none, or the files hang, which is a problem of the place.
    mutating func reading<Value: Sendable>(
        _ place: String, on threads: FileThreads, within limit: Duration? = nil,
        _ work: @escaping @Sendable (inout ServerProblems) -> Value?
    ) async -> Value? {
        let result = await awaiting(place) {
            try await threads.run(place, within: limit) {
                var found = ServerProblems()
                let value = work(&found)
                return (value, found.problems)
            }
        }
        problems += result?.1 ?? []
        return result?.0
    }

    /// Does the work, and adds its error as a problem of the place.
    mutating func collecting<Value>(_ place: String, _ work: () throws -> Value) -> Value? {
        do { return try work() } catch {
            take(error, place)
            return nil
        }
    }

    /// Does the work, and adds its error as a problem of the place.
    mutating func awaiting<Value: Sendable>(_ place: String, _ work: () async throws -> Value) async -> Value? {
        do { return try await work() } catch {
            take(error, place)
            return nil
        }
    }

    private mutating func take(_ error: any Error, _ place: String) {
        if let error = error as? any DiagnosableError {
            problems.append(Problem(place, error.reason, error.remedy))
        } else {
            problems.append(Problem(place, "It failed with \(type(of: error)).", "Check the file and its permissions."))
        }
    }
}
