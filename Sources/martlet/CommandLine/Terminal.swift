import Glibc
import MartletServer

/// Standard output, standard error and standard input.
enum Terminal {
    /// Prints a line on standard output, whole and at once.
    static func print(_ line: String) {
        write(line + "\n", to: STDOUT_FILENO)
    }

    /// Prints lines on standard error. Errors repeat what others sent.
    static func complain(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { singleLine(String($0)) }
        write(lines.joined(separator: "\n") + "\n", to: STDERR_FILENO)
    }

    /// A text that others sent, as one line that can neither steer the terminal nor turn the order of what it shows:
    /// such characters become spaces.
    static func singleLine(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: line.append(" ")
            default: line.append(scalar.properties.isBidiControl ? " " : scalar)
            }
        }
        return String(line)
    }

    /// The first line of standard input, without its end: a password.
    static func readPassword() throws -> String {
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw ServerError("Standard input has no password: give it as one line.")
        }
        return line
    }

    private static func write(_ text: String, to file: Int32) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
