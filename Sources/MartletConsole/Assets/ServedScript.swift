/// Removes the comments of a script that have lines of their own, which are a tenth of what browsers would load.
///
/// The lines stay, empty, so that an error names the line of the file. A comment beside code stays too: where a string or
/// a template ends cannot be told without parsing the script.
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
                // Code stands behind the comment, for example after the type of an expression.
                if end != text.endIndex { served += line }
            } else if !text.starts(with: "//".utf8) {
                served += line
            }
        }
        return served
    }

    private static func ends(_ text: ArraySlice<UInt8>) -> Bool { end(of: text) != nil }

    /// Returns the index behind the first `*/` of a line; nil if there is none.
    private static func end(of text: ArraySlice<UInt8>) -> Int? {
        text.indices.first { index in
            text[index] == 0x2A && index + 1 < text.endIndex && text[index + 1] == 0x2F
        }.map { $0 + 2 }
    }
}
