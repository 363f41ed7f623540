/// What somebody may have meant who mistyped a word.
enum Spelling {
    /// The known word that differs least, or nil where none is close: by at most two edits, one in a word of up to four
    /// characters. Two characters in the wrong order are one edit.
    static func closest(to word: String, in known: some Sequence<String>) -> String? {
        let limit = word.count > 4 ? 2 : 1
        let distances = known.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return distances.min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
    }

    /// A sentence for the end of an error, with a space before it; empty where no known word is close.
    /// - Parameter prefix: What users write before the word: the dashes of an option.
    static func question(_ word: String, _ known: some Sequence<String>, prefix: String = "") -> String {
        closest(to: word, in: known).map { " Did you mean '\(prefix)\($0)'?" } ?? ""
    }

    /// How many insertions, deletions, replacements and exchanges of neighbours make one word of the other.
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.lowercased()), Array(second.lowercased()))
        var rows = [Array(0...second.count)]
        for (index, character) in first.enumerated() {
            var row = [index + 1]
            for (other, candidate) in second.enumerated() {
                let replaced = rows[index][other] + (character == candidate ? 0 : 1)
                var least = min(rows[index][other + 1] + 1, row[other] + 1, replaced)
                if index > 0, other > 0, character == second[other - 1], first[index - 1] == candidate {
                    least = min(least, rows[index - 1][other - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
