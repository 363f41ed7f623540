import MartletHTTP
import Testing

struct PlainSuccessTests {
    private static let named = #"{"name":"projects/p/messages/0:15%a"}"#

    private func covers(_ plain: PlainSuccess, _ status: HTTPStatus, _ body: String) -> Bool {
        Array(body.utf8).withUnsafeBytes { plain.covers(status, $0) }
    }

    @Test(arguments: [PlainSuccess.empty, .json(member: "name"), .none], [HTTPStatus.created, .badRequest])
    func noOtherStatusIsPlain(_ plain: PlainSuccess, _ status: HTTPStatus) {
        for body in ["", Self.named] { #expect(!covers(plain, status, body)) }
    }

    @Test func aBodyIsPlainOnlyWhereOneIsExpected() {
        #expect(covers(.empty, .ok, ""))
        #expect(!covers(.empty, .ok, Self.named))
        #expect(!covers(.none, .ok, ""))
        #expect(!covers(.none, .ok, Self.named))
        #expect(!covers(.json(member: "name"), .ok, ""))
    }

    @Test(arguments: [named, "{\n  \"name\": \"projects/p/messages/1\"\n}\n", " {\t\"name\" :\r\n\"x y\" } "])
    func aBodyOfTheOneMemberIsPlain(_ body: String) {
        #expect(covers(.json(member: "name"), .ok, body))
    }

    @Test(arguments: [
        #"{"name":""}"#, #"{"name":1}"#, #"{"name":null}"#, #"{"nam":"x"}"#, #"{"name2":"x"}"#, #"{"name":"x"#,
        #"{"name":"x"}}"#, #"{"name":"x","other":1}"#, #"{"other":1,"name":"x"}"#, #"{"error":{"name":"x"}}"#,
        #"{"name":"a\"b"}"#, #"{"name":"\u0061"}"#, #"{"name":"é"}"#, "{\"name\":\"a\nb\"}", #"{" name":"x"}"#,
        #"[{"name":"x"}]"#, "{", "\"name\"", "<html>",
    ])
    func everyOtherBodyIsNot(_ body: String) {
        #expect(!covers(.json(member: "name"), .ok, body))
    }

    @Test func noBeginningOfAPlainBodyIsPlain() {
        let bytes = Array(Self.named.utf8)
        for count in bytes.indices {
            #expect(!bytes[..<count].withUnsafeBytes { PlainSuccess.json(member: "name").covers(.ok, $0) })
        }
    }
}
