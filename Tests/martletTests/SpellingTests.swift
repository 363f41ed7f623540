import Testing

@testable import martlet

struct SpellingTests {
    @Test(arguments: [
        ("listne", "listen"), ("lisen", "listen"), ("LISTEN", "listen"), ("tls-lisn", "tls-listen"), ("dta", "data"),
        ("hub creat", "hub create"), ("dat", "data"),
    ])
    func aWordThatDiffersByTwoEditsIsFound(word: String, meant: String) {
        let known = ["data", "listen", "tls-listen", "hub create", "hub delete"]
        #expect(Spelling.closest(to: word, in: known) == meant)
        #expect(Spelling.question(word, known, prefix: "--") == " Did you mean '--\(meant)'?")
    }

    @Test(arguments: ["", "x", "dxxa", "listen-all", "user"])
    func aWordThatDiffersMoreIsNotGuessed(word: String) {
        #expect(Spelling.closest(to: word, in: ["data", "listen"]) == nil)
        #expect(Spelling.question(word, ["data", "listen"]).isEmpty)
    }

    @Test func neighboursInTheWrongOrderAreOneEdit() {
        #expect(Spelling.distance("listne", "listen") == 1)
        #expect(Spelling.distance("", "abc") == 3)
        #expect(Spelling.distance("kitten", "sitting") == 3)
    }
}
