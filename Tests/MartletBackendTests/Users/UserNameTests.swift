import MartletModel
import Testing

@testable import MartletBackend

struct UserNameTests {
    @Test(arguments: [
        ("alice", "username:alice"), ("Alice", "username:alice"),
        ("a.b-c_d@example.org", "username:a.b-c_d@example.org"),
        ("Zoë", "username:zo#c3#ab"), ("o'neil+x", "username:o#27neil#2bx"), ("a#b", "username:a#23b"),
        ("王", "username:#e7#8e#8b"),
    ])
    func aNameBecomesATag(name: String, tag: String) throws {
        let name = try UserName(name)
        #expect(name.tag.spelling == tag)
        #expect(name.fromTag.spelling == tag.replacing("username:", with: "from:"))
    }

    @Test func namesCompareWithoutCase() throws {
        #expect(try UserName("ÄRGER") == UserName("ärger"))
        #expect(try UserName("Alice").hashValue == UserName("aLICE").hashValue)
        #expect(try UserName("alice") != UserName("alicf"))
    }

    /// The signs for kelvin, ångström and ohm, and a capital theta for formulas.
    @Test(arguments: ["mar\u{212A}", "\u{212B}sa", "\u{2126}", "\u{3F4}"])
    func aSignThatFoldsIntoALetterIsNone(name: String) {
        #expect(throws: UserNameError.badCharacter) { try UserName(name) }
    }

    @Test(arguments: ["STRA\u{1E9E}E", "\u{130}brahim", "ΣΟΦΙΑ", "Ǆ", "ÅSA", "Ω"])
    func capitalsOfAnyScriptAreAllowed(name: String) throws {
        #expect(try UserName(name).spelling == name)
    }

    @Test func aNameThatLooksLikeAnEscapeIsAnotherName() throws {
        #expect(try UserName("zo#c3#ab") != UserName("Zoë"))
    }

    @Test(arguments: ["a b", "a:b", "a||b", "!a", "(a)", "a,b", "a&&b", "$a", "a\n", "a\0", "😀", "a/b", "a\u{200B}b"])
    func aNameIsNeverAnExpression(name: String) {
        #expect(throws: UserNameError.badCharacter) { try UserName(name) }
    }

    @Test func aNameFitsATag() throws {
        #expect(throws: UserNameError.empty) { try UserName("") }
        _ = try UserName(String(repeating: "a", count: 111))
        #expect(throws: UserNameError.tooLong) { try UserName(String(repeating: "a", count: 112)) }
        #expect(throws: UserNameError.tooLong) { try UserName(String(repeating: "ß", count: 20)) }
    }
}
