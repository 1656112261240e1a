import Latchkey
import LatchkeyCore

/// What a number means, for people and for tools.
struct NumberExplanation: Encodable, Sendable {
    let number: Int
    /// Whose number it is: `system`, `avFoundation`, `url`, or `latchkey`.
    let domain: String
    let name, meaning: String
    let causes, remedies: [String]
    /// Who can fix it; nil where that depends.
    let fixer: String?
    /// Whether the meaning rests on more than reports.
    let confirmed: Bool

    init(_ explanation: FairPlayErrorExplanation) {
        number = explanation.code
        domain = explanation.domain.rawValue
        name = explanation.name
        meaning = explanation.meaning
        causes = explanation.causes
        remedies = explanation.remedies
        fixer = explanation.fixer.words
        confirmed = explanation.isConfirmed
    }

    init(_ kind: ContentKeyError.Kind) {
        number = kind.number
        domain = "latchkey"
        name = kind.rawValue
        meaning = "Latchkey's own error \(kind.rawValue), domain \(ContentKeyError.errorDomain)."
        causes = []
        remedies = ["Read the error's recovery suggestion, which is about this very failure."]
        fixer = nil
        confirmed = true
    }

    /// The explanation of a number of the system's or of Latchkey's; nil for an unknown one.
    init?(_ number: Int) {
        if let known = FairPlayErrorExplanation.explaining(number) {
            self.init(known)
        } else if let kind = ContentKeyError.Kind(number: number) {
            self.init(kind)
        } else {
            return nil
        }
    }

    /// The explanations of the numbers in a log, each once, in the order of the log. A number of Latchkey's stands behind its domain:
    /// alone it could be anything.
    static func all(in log: String) -> [Self] {
        let numbers = #/\bLatchkey\.ContentKeyError\W+(?i:code)\W(\d{3})\b|(?:^|[^\w./])(-\d{3,10}|\d{10})\b/#
        var seen: Set<Int> = []
        return log.matches(of: numbers).compactMap { Self(own: $0.1, system: $0.2) }
            .filter { seen.insert($0.number).inserted }
    }

    private init?(own: Substring?, system: Substring?) {
        if let kind = own.flatMap({ Int($0) }).flatMap(ContentKeyError.Kind.init(number:)) {
            self.init(kind)
        } else if let known = system.flatMap({ Int($0) }).flatMap(FairPlayErrorExplanation.explaining) {
            self.init(known)
        } else {
            return nil
        }
    }

    var text: String {
        let title = "\(number)  \(name)" + (confirmed ? "" : " (from reports)")
        let rows = [("What", [meaning]), ("Why", causes), ("Try", remedies), ("Who", fixer.map { [$0] } ?? [])]
            .flatMap { name, lines in lines.enumerated().map { ["  \($0 == 0 ? name : "")", $1] } }
        return title + "\n" + TextTable(rows: rows).text
    }
}

extension FairPlayErrorExplanation.Fixer {
    /// For people.
    fileprivate var words: String {
        switch self {
        case .app: "the app's code"
        case .service: "the license service"
        case .packager: "who packages and delivers the stream"
        case .certificateOwner: "who holds the FairPlay certificate"
        case .viewer: "the viewer, with another display or device"
        case .apple: "Apple, by a newer system"
        }
    }
}
