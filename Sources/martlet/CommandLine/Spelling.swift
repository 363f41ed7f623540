/// Finds the known word that a user probably meant when typing an unknown word.
enum Spelling {
    /// Returns the most similar known word, or nil if none is similar. Words are similar if they differ by at most two
    /// edits, or one edit in a word of up to four characters. Swapping two adjacent characters is one edit.
    static func closest(to word: String, in known: some Sequence<String>) -> String? {
        let limit = word.count > 4 ? 2 : 1
        let distances = known.map { (word: $0, distance: distance(word, $0)) }.filter { $0.distance <= limit }
        return distances.min { ($0.distance, $0.word) < ($1.distance, $1.word) }?.word
    }

    /// Returns a question for the end of an error message, with a space before it; empty if no known word is similar.
    /// - Parameter prefix: The characters that users write before the word, such as the dashes of an option.
    static func question(_ word: String, _ known: some Sequence<String>, prefix: String = "") -> String {
        closest(to: word, in: known).map { " Did you mean '\(prefix)\($0)'?" } ?? ""
    }

    /// Returns the number of insertions, deletions, replacements and swaps of adjacent characters that turn one word
    /// into the other.
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
