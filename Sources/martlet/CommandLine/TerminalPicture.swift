import Glibc
import MartletCrypto

/// The protocol with which a terminal can show PNG pictures within its text.
enum TerminalPicture: Equatable {
    /// Inline images of iTerm2, which other terminals also support.
    case iTerm2
    /// The graphics protocol of kitty.
    case kitty

    /// The height of a picture in rows of the terminal.
    private static let rows = 8
    /// The maximum length of a chunk in kitty's protocol, in characters of Base64.
    private static let portion = 4096
    /// The signature of a PNG file.
    private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    /// Detects the terminal from its environment variables.
    /// - Parameter variable: Returns the value of an environment variable.
    /// - Returns: nil if the terminal is not known to show pictures, or if a multiplexer is in use, because a
    ///   multiplexer may not pass pictures on.
    init?(_ variable: (String) -> String?) {
        guard variable("TMUX") == nil, variable("STY") == nil else { return nil }
        switch (variable("TERM"), variable("TERM_PROGRAM")) {
        case (_, "iTerm.app"), (_, "WezTerm"), (_, "mintty"): self = .iTerm2
        case ("xterm-kitty", _), ("xterm-ghostty", _), (_, "ghostty"): self = .kitty
        default: return nil
        }
    }

    /// The terminal on standard output; nil if standard output is not a terminal, or the terminal shows no pictures.
    static var ofThisProcess: TerminalPicture? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        return TerminalPicture { name in getenv(name).map { String(cString: $0) } }
    }

    /// Returns a text that shows a picture when the text is printed; nil if the bytes are not a PNG file.
    func text(showing picture: [UInt8]) -> String? {
        guard picture.starts(with: Self.signature) else { return nil }
        let escape = "\u{1B}"
        switch self {
        case .iTerm2:
            let arguments = "size=\(picture.count);height=\(Self.rows);inline=1"
            return "\(escape)]1337;File=\(arguments):\(Base64.encode(picture))\u{07}"
        case .kitty:
            let portions = portions(of: Base64.encode(picture))
            return portions.enumerated().map { index, portion in
                let head = index == 0 ? "a=T,f=100,r=\(Self.rows)," : ""
                return "\(escape)_G\(head)m=\(index == portions.count - 1 ? 0 : 1);\(portion)\(escape)\\"
            }.joined()
        }
    }

    private func portions(of text: String) -> [Substring] {
        var rest = text.utf8[...]
        var portions: [Substring] = []
        while !rest.isEmpty {
            portions.append(Substring(rest.prefix(Self.portion)))
            rest = rest.dropFirst(Self.portion)
        }
        return portions
    }
}
