import MartletModel
import Testing

struct AnchorTests {
    @Test(
        "The anchors of an expression are the fewest tags of which whoever is meant has one",
        arguments: [
            ("a", ["a"]), ("A || b", ["a", "b"]), ("a && bb", ["bb"]), ("a && !bb", ["a"]),
            ("(a || b) && ccc", ["ccc"]), ("(a || b) && (c || d || e)", ["a", "b"]),
            ("(a && bb) || !(!c) || d", nil), ("!a", nil), ("a || !b", nil), ("!a && !b", nil),
            ("news && $UserId:{ann}", ["$userid:{ann}"]),
        ])
    func anchors(text: String, expected: [String]?) throws {
        let anchors = try TagExpression(text).anchors
        #expect(anchors.map { $0.map(\.folded).sorted() } == expected)
    }

    @Test func whoeverIsMeantHasAnAnchor() throws {
        let names = ["a", "bb", "ccc"]
        for text in ["a && !bb || ccc && a", "(a || bb) && !(ccc && a)", "ccc && (a || bb || ccc)", "a || bb && ccc"] {
            let expression = try TagExpression(text)
            let anchors = try #require(expression.anchors)
            for choice in 0..<8 {
                let tags = Set(try names.indices.filter { choice >> $0 & 1 == 1 }.map { try Tag(names[$0]) })
                if expression.matches(tags) { #expect(!anchors.isDisjoint(with: tags)) }
            }
        }
    }
}
