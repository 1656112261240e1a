import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyTerminal

/// Explains a copied text: a number in any form, a name, a player's code, a whole error.
enum Explanations {
    /// The explanations of a text; empty if nothing is known.
    /// - Returns: also the numbers that are unknown in the domain that the text names.
    static func of(_ text: String) -> (found: [NumberExplanation], unknown: [UnknownNumber]) {
        let text = ErrorNumber.withPlainMinus(text.trimmingCharacters(in: .whitespacesAndNewlines))
        if let number = ErrorNumber.read(text) { return (NumberExplanation.all(of: number), []) }
        let named = ErrorNames.explanations(of: text)
        if !named.isEmpty { return (named, []) }
        if let number = ErrorNumber.fourCharacters(text) { return (NumberExplanation.all(of: number), []) }
        if let (number, domain, name) = behindDomain(text) {
            let known = domain.filter(NumberExplanation.all(of: number))
            return (known, known.isEmpty ? [UnknownNumber(number: number, domain: name)] : [])
        }
        return LogScanner.read(text)
    }

    /// `THEO 7003`, `HTTP status 403`, `CoreMediaErrorDomain -12660`: words, the first of them a domain, and a number.
    private static func behindDomain(_ text: String) -> (number: Int, domain: NumberDomain, name: String)? {
        let words = text.split { $0.isWhitespace || ":,=#()".contains($0) }.map(String.init)
        guard words.count <= 6, let last = words.last, let number = ErrorNumber.read(last),
            let name = words.first(where: { NumberDomain(word: $0) != nil }), let domain = NumberDomain(word: name)
        else { return nil }
        return (number, domain, name)
    }

    /// The known numbers nearest to one, at most three: the other sign first, then one digit off or two swapped.
    static func near(_ number: Int) -> [NumberExplanation] {
        guard number != .min, number.magnitude > 999 else { return [] }
        let everything = FairPlayErrorExplanation.all + FairPlayErrorExplanation.elsewhere
        if let other = everything.first(where: { $0.code == -number }) { return [NumberExplanation(other)] }
        let text = "\(number.magnitude)"
        let near = everything.filter { $0.code.magnitude > 999 && Spelling.distance("\($0.code.magnitude)", text) == 1 }
        return near.prefix(3).map(NumberExplanation.init)
    }
}
