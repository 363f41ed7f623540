/// The references to variables in the texts of a message: `$(name)`.
enum MessageVariables {
    enum Piece: Hashable {
        case text(Substring)
        /// The name as it is spelled in the text.
        case variable(Substring)
    }

    /// Splits a text at its references. A reference consists of `$(`, a valid name and `)`. Everything else is text.
    static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var (start, position) = (text.startIndex, text.startIndex)
        while let dollar = text[position...].utf8.firstIndex(of: UInt8(ascii: "$")) {
            let name = text.utf8[dollar...].dropFirst()
            position = text.utf8.index(after: dollar)
            guard name.first == UInt8(ascii: "("), let end = name.firstIndex(of: UInt8(ascii: ")")) else { continue }
            let variable = text[name.index(after: name.startIndex)..<end]
            guard isName(variable) else { continue }
            if start < dollar { pieces.append(.text(text[start..<dollar])) }
            pieces.append(.variable(variable))
            position = text.utf8.index(after: end)
            start = position
        }
        if start < text.endIndex { pieces.append(.text(text[start...])) }
        return pieces
    }

    /// Returns the names of the variables that a text refers to.
    static func names(in text: String) -> [Substring] {
        pieces(of: text).compactMap { piece in
            guard case .variable(let name) = piece else { return nil }
            return name
        }
    }

    /// Returns true if a text is a valid name of a variable or of a member of `data`: 1 to 64 ASCII letters, digits and
    /// underscores.
    static func isName(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
