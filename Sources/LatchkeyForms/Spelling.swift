/// Finds the word that a writer probably meant.
package enum Spelling {
    /// Returns the candidate with the fewest changes; `nil` if every candidate differs in more than a third of its letters.
    package static func closest(to word: String, among candidates: [String]) -> String? {
        let near = candidates.map { (word: $0, distance: distance(word, $0)) }
            .filter { $0.distance <= max(1, max(word.count, $0.word.count) / 3) }
        return near.min { $0.distance < $1.distance }?.word
    }

    /// The number of letters to insert, delete, replace or swap with their neighbor.
    package static func distance(_ one: String, _ other: String) -> Int {
        let (one, other) = (Array(one.lowercased().prefix(64)), Array(other.lowercased().prefix(64)))
        var beforeLast: [Int] = []
        var last = Array(0...other.count)
        for row in one.indices {
            var current = [row + 1]
            for column in other.indices {
                let isSame = one[row] == other[column]
                var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (isSame ? 0 : 1))
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[other.count]
    }
}
