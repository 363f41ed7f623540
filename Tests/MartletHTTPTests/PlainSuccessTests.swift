import MartletHTTP
import Testing

struct PlainSuccessTests {
    private static let named = #"{"name":"projects/p/messages/0:15%a"}"#

    private func covers(
        _ plain: PlainSuccess, _ status: HTTPStatus, _ body: String, _ fields: HTTPFields = [:], path: String = "x"
    ) -> Bool {
        var batch = RequestBatch(RequestBatch.Shared(origin: origin, pathPrefix: "/", body: [], plainSuccess: plain))
        batch.append(path: path.utf8)
        return Array(body.utf8).withUnsafeBytes {
            plain.covers(status, $0, fields: fields.values(of:), of: 0, in: batch)
        }
    }

    private let origin = HTTPOrigin(scheme: .https, host: "push.example", port: 443)

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
            #expect(!covers(.json(member: "name"), .ok, String(decoding: bytes[..<count], as: UTF8.self)))
        }
    }

    private static let ofPath = PlainSuccess.jsonOfPath(member: "id", pathSuffix: "/messages")

    @Test(arguments: [
        ("abc", #"{"id":"abc"}"#), ("abc.DEF-1_2~", " { \"id\" :\n\"abc.DEF-1_2~\" }\n"),
        ("a%2Bb%2Fc%3D", #"{"id":"a+b/c="}"#), ("%2B", #"{"id":"+"}"#), ("a%25", #"{"id":"a%"}"#),
        (
            "0123456789abcdef0123456789%2B0123456789abcdef%2B",
            #"{"id":"0123456789abcdef0123456789+0123456789abcdef+"}"#
        ),
    ])
    func theIDOfThePathIsPlain(_ path: String, _ body: String) {
        #expect(covers(Self.ofPath, .ok, body, path: path + "/messages"))
        #expect(!covers(Self.ofPath, .created, body, path: path + "/messages"))
        for count in body.utf8.indices.dropFirst(1) where !body[count...].allSatisfy(\.isWhitespace) {
            #expect(!covers(Self.ofPath, .ok, String(body[..<count]), path: path + "/messages"))
        }
    }

    @Test(arguments: [
        ("abc", #"{"id":"abd"}"#), ("abc", #"{"id":"abcd"}"#), ("abc", #"{"id":"ab"}"#), ("abc", #"{"ID":"abc"}"#),
        ("abc", #"{"id":"\u0061bc"}"#), ("abc", #"{"id":"abc","more":1}"#), ("abc", #"{"id":"abc"}}"#),
        ("abc", #"{"id":"ABC"}"#), ("a%2Bb", #"{"id":"a%2Bb"}"#), ("a%22b", #"{"id":"a"b"}"#),
        ("a%5Cb", #"{"id":"a\b"}"#), ("a%C3%A9", #"{"id":"aé"}"#), ("", #"{"id":""}"#), ("a%2", #"{"id":"a+"}"#),
        ("a%", #"{"id":"a%"}"#), ("0123456789abcdef", #"{"id":"0123456789abcdeg"}"#),
    ])
    func anotherIDIsNot(_ path: String, _ body: String) {
        #expect(!covers(Self.ofPath, .ok, body, path: path + "/messages"))
    }

    @Test func aFieldOfThisValueIsPlain() {
        let plain = PlainSuccess.field(name: "x-status", value: "received")
        for value in ["received", "Received", "RECEIVED"] {
            #expect(covers(plain, .ok, "", ["x-other": "1", "x-status": value]))
            #expect(covers(plain, .ok, "any", ["x-status": value]))
            #expect(!covers(plain, .created, "", ["x-status": value]))
        }
        var twice: HTTPFields = ["x-status": "received"]
        twice.append(HTTPField("x-status", "received"))
        for fields in [[:], ["x-status": "dropped"], ["x-status": "received "], twice] {
            #expect(!covers(plain, .ok, "", fields))
        }
    }
}
