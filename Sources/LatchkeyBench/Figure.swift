import Foundation
import LatchkeyTerminal

/// One figure of the bench: a measurement and its aim.
struct Figure: Sendable, Equatable {
    /// The unit of the number, and its format.
    enum Unit: String, Sendable, Encodable {
        /// A fraction of another measurement in the same run; 1 is all of it.
        case share
        case microseconds
        case milliseconds
        case allocations
        case megabytesPerSecond
        case bytes
    }

    /// The aim of a number.
    enum Aim: Sendable, Equatable {
        case atLeast(Double)
        case atMost(Double)
        case below(Double)

        var limit: Double {
            switch self {
            case .atLeast(let limit), .atMost(let limit), .below(let limit): limit
            }
        }
    }

    let name: String
    /// The number; `nil` if it could not be measured, which the note explains.
    let value: Double?
    let unit: Unit
    /// The aim; `nil` for a number given for comparison only.
    var aim: Aim?
    /// The components of the number, such as the two numbers of a share.
    var note = ""
    /// Whether measuring it failed.
    var hasFailed = false

    /// A placeholder for the figures of a failed part.
    static func failed(_ part: String, _ error: any Error) -> Figure {
        Figure(name: part, value: nil, unit: .share, note: "failed: \(Failure(error).reason)", hasFailed: true)
    }

    /// Whether the number meets its aim; `nil` without an aim or without a number.
    var isMet: Bool? { value.flatMap { isMet(by: $0) } }

    /// Whether another number meets the aim; `nil` without an aim.
    func isMet(by value: Double) -> Bool? {
        switch aim {
        case .atLeast(let limit): value >= limit
        case .atMost(let limit): value <= limit
        case .below(let limit): value < limit
        case nil: nil
        }
    }
}

extension Figure {
    /// Such as “≥ 90 %”; `nil` without an aim.
    var aimText: String? {
        switch aim {
        case .atLeast(let limit): "≥ \(unit.text(limit))"
        case .atMost(let limit): "≤ \(unit.text(limit))"
        case .below(let limit): "< \(unit.text(limit))"
        case nil: nil
        }
    }

    /// The cells of the figure's row.
    var cells: [String] {
        let met = isMet.map { $0 ? "yes" : "NO" } ?? "–"
        return [name, value.map(unit.text) ?? "not measured", aimText ?? "–", met, note]
    }
}

extension Figure.Unit {
    func text(_ value: Double) -> String {
        switch self {
        case .share: "\((value * 100).shown(places: 1)) %"
        case .microseconds: "\(value.shown(places: 1)) µs"
        case .milliseconds: "\(value.shown(places: 1)) ms"
        case .allocations: value.shown(places: 1)
        case .bytes: "\(value.shown(places: 0)) bytes"
        case .megabytesPerSecond: "\(value.shown(places: 0)) MB/s"
        }
    }
}

extension Double {
    /// The number with at most a given number of decimal places, without trailing zeros.
    func shown(places: Int) -> String {
        formatted(.number.precision(.fractionLength(0...places)).grouping(.never).locale(Locale(identifier: "en")))
    }
}

extension Figure: Encodable {
    private enum Field: String, CodingKey { case name, value, unit, aim, isMet, note }
    private enum AimField: String, CodingKey { case atLeast, atMost, below }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: Field.self)
        try fields.encode(name, forKey: .name)
        try fields.encode(value, forKey: .value)
        try fields.encode(unit, forKey: .unit)
        try fields.encode(isMet, forKey: .isMet)
        try fields.encode(note, forKey: .note)
        guard let aim else { return }
        var limit = fields.nestedContainer(keyedBy: AimField.self, forKey: .aim)
        switch aim {
        case .atLeast(let value): try limit.encode(value, forKey: .atLeast)
        case .atMost(let value): try limit.encode(value, forKey: .atMost)
        case .below(let value): try limit.encode(value, forKey: .below)
        }
    }
}
