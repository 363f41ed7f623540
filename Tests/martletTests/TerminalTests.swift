import Testing

@testable import martlet

struct TerminalTests {
    @Test(arguments: [
        ("\u{1B}]0;title\u{07}\u{1B}[2Jx", " ]0;title  [2Jx"), ("a\nb\r\nc\u{2028}d", "a b  c d"),
        ("\u{9B}2J\u{7F}", " 2J "), ("12\u{202E}34\u{2066}5", "12 34 5"), ("Grüße an \"Zoë\" 👩‍🚀", "Grüße an \"Zoë\" 👩‍🚀"),
    ])
    func whatOthersSentStaysOnItsLineAndDoesNotSteerTheTerminal(text: String, line: String) {
        #expect(Terminal.singleLine(text) == line)
    }
}
