import MartletModel
import Testing

@testable import MartletStorage

struct AudiencePlanTests {
    private func plan(_ text: String) throws -> AudiencePlan {
        AudiencePlan(try TagExpression(text))
    }

    private func members(_ name: String) throws -> AudiencePlan {
        .members(try Tag(name))
    }

    @Test func noExpressionIsEveryone() {
        #expect(AudiencePlan(nil) == .everyone)
    }

    @Test func aNegationTakesAwayFromWhatStandsBesideIt() throws {
        #expect(
            try plan("a && !b && c")
                == .join(including: [members("a"), members("c")], excluding: [members("b")]))
    }

    @Test func aNegationAloneTakesAwayFromEveryone() throws {
        #expect(try plan("!a") == .join(including: [.everyone], excluding: [members("a")]))
        #expect(try plan("!a && !b") == .join(including: [.everyone], excluding: [members("a"), members("b")]))
        #expect(
            try plan("a || !b")
                == .union([members("a"), .join(including: [.everyone], excluding: [members("b")])]))
    }

    @Test func aDoubleNegationIsNone() throws {
        #expect(try plan("a && !!b") == .join(including: [members("a"), members("b")], excluding: []))
    }
}
