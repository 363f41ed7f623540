/// Removes comments on lines of their own from a script, because they are a tenth of the bytes that browsers would
/// load.
///
/// Each such line stays as an empty line, so that an error names the right line of the file. A comment after code on
/// the same line is kept, because only a parser of the script could tell a comment from the text of a string or a
/// template.
enum ServedScript {
    static func withoutComments(_ bytes: [UInt8]) -> [UInt8] {
        var served: [UInt8] = []
        served.reserveCapacity(bytes.count)
        var isInComment = false
        for (index, line) in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { served.append(0x0A) }
            let text = line.drop { $0 == 0x20 }
            if isInComment {
                isInComment = !ends(text)
            } else if text.starts(with: "/*".utf8) {
                guard let end = end(of: text.dropFirst(2)) else {
                    isInComment = true
                    continue
                }
                // Code follows the comment on the same line, for example if the comment states the type of an
                // expression. The whole line is kept.
                if end != text.endIndex { served += line }
            } else if !text.starts(with: "//".utf8) {
                served += line
            }
        }
        return served
    }

    private static func ends(_ text: ArraySlice<UInt8>) -> Bool { end(of: text) != nil }

    /// Returns the index after the first `*/` of a line; nil if there is none.
    private static func end(of text: ArraySlice<UInt8>) -> Int? {
        text.indices.first { index in
            text[index] == 0x2A && index + 1 < text.endIndex && text[index + 1] == 0x2F
        }.map { $0 + 2 }
    }
}
