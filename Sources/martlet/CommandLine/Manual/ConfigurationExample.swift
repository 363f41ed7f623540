/// An example of a configuration file. Every setting of a command is in a comment, with its default, so the file
/// changes nothing.
enum ConfigurationExample {
    private static let width = 96

    static func text(_ settings: [Option]) -> String {
        let introduction = """
            # Settings of martlet, one on each line: key = value. martlet.conf(5) describes the form.
            # Each is shown with its default, or with the form of its value where it has none.
            """
        return ([introduction] + settings.map(paragraph)).joined(separator: "\n\n") + "\n"
    }

    private static func paragraph(_ option: Option) -> String {
        let value = option.fallback ?? (option.placeholder == nil ? "false" : option.placeholder ?? "")
        return (wrapped(option.help).map { "# \($0)" } + ["#\(option.name) = \(value)"]).joined(separator: "\n")
    }

    private static func wrapped(_ text: String) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            let last = lines[lines.count - 1]
            if last.isEmpty {
                lines[lines.count - 1] = String(word)
            } else if last.count + word.count < width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
