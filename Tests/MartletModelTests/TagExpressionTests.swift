import MartletModel
import Testing

struct TagExpressionTests {
    @Test(arguments: [
        ("a", "a"),
        ("a||b&&c", "a || b && c"),
        ("(a || b) && !c", "(a || b) && !c"),
        ("!!a", "!!a"),
        ("!(a&&b)", "!(a && b)"),
        ("  a\t&&\n b ", "a && b"),
        ("((a))", "a"),
        ("a && (b && c) && ((d))", "a && b && c && d"),
        ("((a || b) || (c && (d && e)))", "a || b || c && d && e"),
        ("$InstallationId:{7d0c-1} && news", "$InstallationId:{7d0c-1} && news"),
        ("$UserId:user1||x", "$UserId:{user1} || x"),
        ("a && (b || (c && d))", "a && (b || c && d)"),
        ("follows_RedSox && !(a:b || c#d)", "follows_RedSox && !(a:b || c#d)"),
    ])
    func anExpressionIsReadByItsGrammar(text: String, written: String) throws {
        let expression = try TagExpression(text)
        #expect(expression.description == written)
        #expect(try TagExpression(written) == expression)
    }

    @Test(arguments: [
        ("", 0, TagExpressionError.Problem.expectedTag),
        ("a &&", 4, .expectedTag),
        ("&& a", 0, .expectedTag),
        ("a b", 2, .expectedOperator),
        ("a AND b", 2, .expectedOperator),
        ("a,b", 1, .expectedOperator),
        ("(a", 2, .unclosedParenthesis),
        ("a)", 1, .expectedOperator),
        ("a & b", 2, .expectedOperator),
        ("a | b", 2, .expectedOperator),
        ("a || ", 5, .expectedTag),
        ("!", 1, .expectedTag),
        ("é", 0, .expectedTag),
        ("x && $Bad:{y}", 5, .badTag(.badCharacter)),
    ])
    func invalidExpressionsAreRefusedWithThePosition(text: String, offset: Int, problem: TagExpressionError.Problem) {
        let error = #expect(throws: TagExpressionError.self) { try TagExpression(text) }
        #expect(error?.offset == offset)
        #expect(error?.problem == problem)
    }

    @Test func twentyTagsMayBeJoinedByOrAndSixWhereOtherOperatorsOccur() throws {
        let tags = (0..<21).map { "t\($0)" }
        #expect(try TagExpression(tags.prefix(20).joined(separator: "||")).tagCount == 20)
        #expect(throws: TagExpressionError.self) { try TagExpression(tags.joined(separator: "||")) }
        #expect(try TagExpression(tags.prefix(6).joined(separator: "&&")).tagCount == 6)
        #expect(throws: TagExpressionError.self) { try TagExpression(tags.prefix(7).joined(separator: "&&")) }
        #expect(throws: TagExpressionError.self) {
            try TagExpression(tags.prefix(7).joined(separator: "||") + " || !x")
        }
    }

    @Test func thirtyTwoLevelsAreAllowed() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
        }
        #expect(try TagExpression(nested(32)) == TagExpression("a"))
        #expect(try TagExpression(String(repeating: "!", count: 32) + "a").tagCount == 1)
        let error = #expect(throws: TagExpressionError.self) { try TagExpression(nested(33)) }
        #expect(error?.offset == 32 && error?.problem == .tooDeep(32))
    }

    @Test func depthAndLengthAreBounded() {
        let deep = String(repeating: "(", count: 10_000) + "a"
        #expect(throws: TagExpressionError.self) { try TagExpression(String(deep.prefix(8000))) }
        #expect(throws: TagExpressionError.self) { try TagExpression(String(repeating: "!", count: 8000) + "a") }
        #expect(throws: TagExpressionError.self) { try TagExpression(deep) }
    }

    @Test(arguments: [
        ("a && b", ["a", "b"], true), ("a && b", ["a"], false), ("a || b", ["B"], true), ("!a", [], true),
        ("!a", ["a"], false), ("(a || b) && !c", ["b"], true), ("(a || b) && !c", ["b", "c"], false),
        ("a || b && c", ["a"], true), ("a || b && c", ["b"], false),
    ])
    func anExpressionIsJudgedOnTheTagsOfOneRegistration(text: String, tags: [String], isMeant: Bool) throws {
        #expect(try TagExpression(text).matches(Set(tags.map { try Tag($0) })) == isMeant)
    }

    @Test func noTextOfTheAlphabetCrashesTheParser() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array("ab!&|()$:{} ")
        for _ in 0..<2000 {
            let text = String((0..<Int.random(in: 0..<40, using: &random)).map { _ in alphabet.randomElement()! })
            guard let expression = try? TagExpression(text) else { continue }
            #expect((try? TagExpression(expression.description)) == expression, "\(text)")
        }
    }
}
