import Glibc
import MartletServer

/// Writes to standard output and standard error, and reads from standard input.
enum Terminal {
    /// Prints a line on standard output with a single write.
    static func print(_ line: String) {
        write(line + "\n", to: STDOUT_FILENO)
    }

    /// Prints lines on standard error. Control characters are replaced, because errors can contain text from outside,
    /// such as a server's answer.
    static func complain(_ text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { singleLine(String($0)) }
        write(lines.joined(separator: "\n") + "\n", to: STDERR_FILENO)
    }

    /// Reports on standard error why a command failed. Control characters are replaced.
    static func fail(_ error: any Error) {
        let text = "\(error)".split(separator: "\n", omittingEmptySubsequences: false)
        let lines = text.map { singleLine(String($0)) }.joined(separator: "\n")
        write(colored("martlet:", .red, on: STDERR_FILENO) + " \(lines)\n", to: STDERR_FILENO)
    }

    /// A terminal color, by its number in ECMA-48.
    enum Color: Int {
        case red = 31, green = 32, yellow = 33
    }

    /// Returns the text in a color if the file is a terminal, unless the environment forbids colors
    /// (https://no-color.org).
    static func colored(_ text: String, _ color: Color, on file: Int32 = STDOUT_FILENO) -> String {
        let forbids = getenv("NO_COLOR").map { $0[0] != 0 } ?? false
        let isDumb = getenv("TERM").map { strcmp($0, "dumb") == 0 } ?? true
        guard isatty(file) == 1, !forbids, !isDumb else { return text }
        return "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m"
    }

    /// Whether a person can be asked: standard input and standard error are both a terminal.
    static var isInteractive: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }

    /// Whether standard error is a terminal, so that a person sees progress at once.
    static var showsErrors: Bool { isatty(STDERR_FILENO) == 1 }

    /// Replaces the line that the cursor is in. The new line must not contain text from outside, because control
    /// characters are not replaced here.
    static func draw(_ line: String) {
        write("\r\(line)\u{1B}[K", to: STDERR_FILENO)
    }

    /// Asks on standard error, so that the question does not mix with the output of a command.
    /// - Returns: The line that was typed, without its line end; nil at the end of the input.
    static func ask(_ question: String) -> String? {
        write(question, to: STDERR_FILENO)
        return readLine(strippingNewline: true)
    }

    /// Returns text from outside as one line that can neither control the terminal nor change the direction of the
    /// text. Characters that could do so are replaced with spaces.
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

    /// Asks for a password without showing it on the terminal.
    /// - Parameter isNew: Whether a new password is being set. The password is then asked for twice, because nothing
    ///   else would detect a typing error.
    static func askPassword(isNew: Bool) throws -> String {
        let password = try askUnseen("Password: ")
        guard !password.isEmpty else { throw ServerError("The password is empty.") }
        if isNew {
            guard try askUnseen("Password again: ") == password else {
                throw ServerError("The two passwords are different: nothing was changed.")
            }
        }
        return password
    }

    private static func askUnseen(_ question: String) throws -> String {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw ServerError("Standard input is no terminal.") }
        let visible = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        settings.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        defer { restore(visible) }
        // Ctrl-C must not leave the terminal with its echo switched off.
        return Signals.cleaningUp {
            restore(visible)
        } while: {
            ask(question) ?? ""
        }
    }

    private static func restore(_ settings: termios) {
        var settings = settings
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }

    /// Returns the first line of standard input without its line end, as a password.
    static func readPassword() throws -> String {
        guard let line = readLine(strippingNewline: true), !line.isEmpty else {
            throw ServerError("Standard input has no password: give it as one line.")
        }
        return line
    }

    private static func write(_ text: String, to file: Int32) {
        write(Array(text.utf8), to: file)
    }

    /// Writes bytes unchanged.
    /// - Returns: Whether all bytes were written.
    @discardableResult
    static func write(_ bytes: [UInt8], to file: Int32 = STDOUT_FILENO) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
