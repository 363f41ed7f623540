import MartletModel
import Testing

struct TagTests {
    @Test(arguments: ["a", "news", "username:alice", "a-b_c@d#e.f:g", String(repeating: "x", count: 120)])
    func aTagOfTheAllowedCharactersIsTakenAsItIs(text: String) throws {
        #expect(try Tag(text).spelling == text)
    }

    @Test(arguments: ["a b", "a,b", "é", "a&b", "a|b", "(a)", "a\n", "$x", "a\u{0}"])
    func aTagWithAnotherCharacterIsRefused(text: String) {
        #expect(throws: TagError.badCharacter) { try Tag(text) }
    }

    @Test func anEmptyTagAndOneOf121CharactersAreRefused() {
        #expect(throws: TagError.empty) { try Tag("") }
        #expect(throws: TagError.tooLong) { try Tag(String(repeating: "x", count: 121)) }
    }

    @Test func tagsThatDifferOnlyInCaseAreTheSame() throws {
        #expect(try Tag("News") == Tag("nEWS"))
        #expect(try Set([Tag("News"), Tag("news")]).count == 1)
    }

    @Test func aSystemTagGetsItsBracesWhereTheyAreMissing() throws {
        #expect(try Tag("$UserId:user1").spelling == "$UserId:{user1}")
        #expect(try Tag("$userid:{user1}") == Tag("$UserId:user1"))
        #expect(try Tag("$InstallationId:{fake=1}").spelling == "$InstallationId:{fake=1}")
    }

    @Test func aRegistrationHasATagThatAnExpressionCanName() throws {
        let tag = try #require(Tag.registration("7-8-1"))
        #expect(tag.spelling == "$RegistrationId:{7-8-1}")
        #expect(try TagExpression("\(tag) && x") == .and([.tag(tag), .tag(Tag("x"))]))
        for id in ["A", "a(b", "a|b", "a,b", "a{b", "", "a b", String(repeating: "x", count: 257)] {
            #expect(Tag.registration(id) == nil)
        }
    }

    @Test(arguments: ["$UserId:", "$UserId:{}", "$UserId:{a", "$UserId:{a b}", "$UserId:{a}}", "$Other:{a}"])
    func aBrokenSystemTagIsRefused(text: String) {
        #expect(throws: TagError.self) { try Tag(text) }
    }
}
