/// Formats text in the language of manual pages (man(7)).
enum Roff {
    /// Escapes characters that have a meaning in roff, or that roff would render as another character.
    static func escaped(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "'": result += "\\(aq"
            case "`": result += "\\(ga"
            case "^": result += "\\(ha"
            case "~": result += "\\(ti"
            case "…": result += "..."
            default: result.append(character)
            }
        }
        // roff would take a line that begins with a period for a request, so `\&` is put before the period.
        return result.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.hasPrefix(".") ? "\\&\($0)" : String($0) }.joined(separator: "\n")
    }

    static func heading(_ title: String) -> String { ".SH \"\(escaped(title))\"" }
    static func subheading(_ title: String) -> String { ".SS \"\(escaped(title))\"" }

    /// Returns a term with its explanation below.
    static func item(_ term: String, _ text: String) -> String { ".TP\n.B \(escaped(term))\n\(escaped(text))" }

    static func bold(_ text: String) -> String { "\\fB\(escaped(text))\\fR" }
    static func example(_ text: String) -> String { ".PP\n.RS 4\n.nf\n\(escaped(text))\n.fi\n.RE\n.PP" }
}
