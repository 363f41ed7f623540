import MartletModel

/// A picture, drawn with characters, of a notification as a device shows it.
struct NotificationPicture {
    private let appearance: JSON

    /// The width of the content inside the frame, in columns of the terminal.
    private static let width = 46

    /// - Parameter appearance: An appearance in the result of a dry run.
    init(_ appearance: JSON) {
        self.appearance = appearance
    }

    var lines: [String] {
        guard appearance["isSilent"] != true else { return ["(shows nothing, wakes the app)"] + cautions }
        let edge = String(repeating: "─", count: Self.width + 2)
        return ["┌\(edge)┐"] + content.map(Self.framed) + ["└\(edge)┘"] + cautions
    }

    private var content: [String] {
        var lines: [String] = []
        let badge =
            appearance["badge"]?.integer.map { "(\($0))" } ?? appearance["badgeStep"]?.integer.map { "(+\($0))" }
        lines += Self.wrapped([text("title"), badge].compactMap(\.self).joined(separator: " "), atMost: 2)
        if let subtitle = text("subtitle") { lines += Self.wrapped(subtitle, atMost: 1) }
        if let text = text("text") {
            lines += Self.wrapped(text, atMost: Int(appearance["lines"]?["text"]?.integer ?? 4))
        }
        if let picture = text("picture") { lines += Self.wrapped("▣ \(picture)", atMost: 1) }
        if let link = text("link") { lines += Self.wrapped("→ \(link)", atMost: 1) }
        let buttons = (appearance["actions"]?.array ?? []).compactMap(\.string).map { "[\($0)]" }
        if !buttons.isEmpty { lines += Self.wrapped(buttons.joined(separator: " "), atMost: 2) }
        return lines
    }

    private var cautions: [String] {
        (appearance["cautions"]?.array ?? []).compactMap { $0.string.flatMap { Self.sentences[$0] } }.map { "! \($0)" }
    }

    private static let sentences = [
        "actionsNeedTheSDK": "Buttons, a picture and an incremented badge need code in the app, such as the SDK's.",
        "subtitleNotShown": "The subtitle is not shown.", "badgeNotShown": "The badge is not shown.",
        "textIsCutAfterLines": "The text is probably cut until the notification is opened.",
        "soundIsTheChannels": "The sound is that of the notification channel, which the user can change.",
    ]

    private func text(_ name: String) -> String? {
        appearance[name]?.string.map(Terminal.singleLine).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func framed(_ line: String) -> String {
        "│ \(line)\(String(repeating: " ", count: max(0, width - columns(of: line)))) │"
    }

    /// Breaks a text into at most `count` lines, between words if possible. A text that is too long ends with `…`.
    static func wrapped(_ text: String, atMost count: Int) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            for piece in pieces(of: word) {
                if !line.isEmpty, columns(of: line) + 1 + columns(of: piece) > width {
                    lines.append(line)
                    line = piece
                } else {
                    line += (line.isEmpty ? "" : " ") + piece
                }
            }
        }
        if !line.isEmpty { lines.append(line) }
        guard lines.count > count, count > 0 else { return lines }
        var last = lines[count - 1]
        while columns(of: last) >= width { last.removeLast() }
        return lines.prefix(count - 1) + [last + "…"]
    }

    /// Splits a word into parts that each fit into a line.
    private static func pieces(of word: Substring) -> [String] {
        var pieces = [""]
        for character in word {
            if columns(of: pieces[pieces.count - 1] + String(character)) > width { pieces.append("") }
            pieces[pieces.count - 1].append(character)
        }
        return pieces
    }

    /// Returns the number of columns that a text takes on a terminal: two for each Chinese, Japanese or Korean
    /// character and for each pictograph, one for any other character.
    static func columns(of text: String) -> Int {
        text.reduce(0) { sum, character in
            guard let scalar = character.unicodeScalars.first else { return sum }
            switch scalar.value {
            case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60,
                0x1F300...0x1FAFF, 0x20000...0x3FFFD:
                return sum + 2
            default: return sum + 1
            }
        }
    }
}
