import Testing

@testable import martlet

struct TerminalPictureTests {
    private let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

    @Test(arguments: [
        (["TERM": "xterm-256color"], nil), ([:], nil), (["TERM_PROGRAM": "iTerm.app"], TerminalPicture.iTerm2),
        (["TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"], .iTerm2), (["TERM": "xterm-kitty"], .kitty),
        (["TERM": "xterm-kitty", "TMUX": "1"], nil),
    ])
    func aTerminalIsKnownByItsEnvironment(environment: [String: String], expected: TerminalPicture?) {
        #expect(TerminalPicture { environment[$0] } == expected)
    }

    @Test func filesThatAreNoPNGAreNotShown() {
        #expect(TerminalPicture.iTerm2.text(showing: Array("\u{1B}[2J".utf8)) == nil)
        #expect(TerminalPicture.kitty.text(showing: []) == nil)
    }

    @Test func iTerm2GetsAPictureAtOnce() {
        #expect(
            TerminalPicture.iTerm2.text(showing: signature)
                == "\u{1B}]1337;File=size=8;height=8;inline=1:iVBORw0KGgo=\u{07}")
    }

    @Test func kittyGetsAPictureInPortions() throws {
        let small = try #require(TerminalPicture.kitty.text(showing: signature))
        #expect(small == "\u{1B}_Ga=T,f=100,r=8,m=0;iVBORw0KGgo=\u{1B}\\")
        let large = signature + [UInt8](repeating: 0, count: 5000)
        let parts = try #require(TerminalPicture.kitty.text(showing: large)).split(separator: "\u{1B}\\")
        #expect(parts.count == 2)
        #expect(parts[0].hasPrefix("\u{1B}_Ga=T,f=100,r=8,m=1;") && parts[0].split(separator: ";")[1].count == 4096)
        #expect(parts[1].hasPrefix("\u{1B}_Gm=0;"))
    }
}
