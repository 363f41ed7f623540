import MartletHTTP
import Testing

struct HTTPContentTests {
    private static let bytes = Array("0123456789".utf8)
    private let content = HTTPContent(length: 10, entityTag: "\"a\"", modifiedAt: 784_111_777) { offset, count in
        Array(bytes.dropFirst(Int(offset)).prefix(count))
    }

    private func answer(_ fields: HTTPFields) async throws -> (status: Int, range: String?, body: String) {
        let response = try content.response(to: HTTPRequest(.get, "/f", fields: fields))
        guard case .stream(let length, let write) = response.body else { return (response.status.code, nil, "") }
        let writer = Collected()
        try await write(writer)
        let body = await writer.bytes
        #expect(length == body.count)
        return (response.status.code, response.fields["content-range"], String(decoding: body, as: UTF8.self))
    }

    @Test(arguments: [
        ("bytes=0-3", "0-3", "0123"), ("bytes=8-", "8-9", "89"), ("bytes=-3", "7-9", "789"),
        ("bytes=5-100", "5-9", "56789"), ("bytes=-100", "0-9", "0123456789"), ("bytes=9-9", "9-9", "9"),
    ])
    func aRangeIsAnsweredWithThatPart(_ range: String, _ index: String, _ body: String) async throws {
        let found = try await answer(["range": range])
        #expect(found.status == 206)
        #expect(found.range == "bytes \(index)/10")
        #expect(found.body == body)
    }

    @Test(arguments: [
        "bytes=a-b", "bytes=3-1", "pages=1-2", "bytes=0-1,3-4", "bytes=", "bytes=-", "bytes=99999999999999999999-",
    ])
    func aRangeThatIsNotUnderstoodCountsAsNone(_ range: String) async throws {
        let found = try await answer(["range": range])
        #expect(found.status == 200)
        #expect(found.body == "0123456789")
    }

    @Test(arguments: ["bytes=10-", "bytes=10-12", "bytes=-0"])
    func aRangeBeyondTheEndIsRefused(_ range: String) {
        #expect(throws: HTTPContent.Refusal.outOfRange) {
            _ = try content.response(to: HTTPRequest(.get, "/f", fields: ["range": range]))
        }
    }

    @Test func tagsDecideWhetherThereIsAnAnswerAndWhetherItIsARange() async throws {
        #expect(try await answer(["if-none-match": "\"x\", W/\"a\""]).status == 304)
        #expect(try await answer(["if-none-match": "\"x\""]).status == 200)
        #expect(try await answer(["if-match": "\"a\""]).status == 200)
        #expect(throws: HTTPContent.Refusal.changed) {
            _ = try content.response(to: HTTPRequest(.get, "/f", fields: ["if-match": "\"x\""]))
        }
        #expect(try await answer(["range": "bytes=1-1", "if-range": "\"a\""]).status == 206)
        #expect(try await answer(["range": "bytes=1-1", "if-range": "\"x\""]).status == 200)
    }

    @Test(arguments: [
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"), (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
    ])
    func datesAreWrittenAsFieldsWantThem(_ seconds: Int, _ text: String) {
        #expect(IMFDate.text(Int64(seconds)) == text)
    }
}

private actor Collected: HTTPBodyWriter {
    var bytes: [UInt8] = []

    func write(_ more: [UInt8]) { bytes += more }
}
