import Foundation

/// One line of `observations.json`.
nonisolated struct Observation: Codable, Identifiable, Sendable {
    let id: String
    /// Who makes it: the app automatically, or the person.
    let by: Observer
    let `do`: String
    let see: String
    let rests: String

    enum Observer: String, Codable { case app, person }

    /// The list, which the package includes with the app.
    static let all: [Observation] = {
        guard let list = try? JSONDecoder().decode([Observation].self, from: Data(observationList.utf8)) else {
            return []
        }
        return list
    }()
}

/// The result of an observation.
nonisolated struct Finding: Codable, Sendable {
    /// The outcome of an observation.
    enum Outcome: String, Codable, CaseIterable { case seen, different, skipped }

    var outcome: Outcome
    /// What happened, in numbers and names; no address, token or key.
    var note: String
    var date = Date()
}

/// The file that the app gives back.
nonisolated struct AcceptanceResult: Codable, Sendable {
    var system: String
    var device: String
    var vendor: String
    var findings: [String: Finding] = [:]

    /// JSON, its members in alphabetical order.
    var json: Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        encoder.dateEncodingStrategy = .iso8601
        return (try? encoder.encode(self)) ?? Data()
    }
}
