import MartletHTTP
import Testing

struct RequestBatchTests {
    private let origin = HTTPOrigin(scheme: .https, host: "push.example")

    @Test func itemsKeepTheirPartsAndShareTheBody() {
        var batch = RequestBatch(
            .init(origin: origin, pathPrefix: "/3/device/", itemFieldNames: ["apns-id"], body: Array("{}".utf8)))
        for item in 0..<100 {
            batch.append(path: "token\(item)".utf8, values: [Array("id\(item)".utf8)])
        }
        #expect(batch.count == 100)
        for item in 0..<100 {
            #expect(batch.withPath(item) { String(decoding: $0, as: UTF8.self) } == "token\(item)")
            #expect(batch.withValue(0, of: item) { String(decoding: $0, as: UTF8.self) } == "id\(item)")
            #expect(batch.withBody(item) { String(decoding: $0, as: UTF8.self) } == "{}")
        }
    }

    @Test func itemsMayHaveBodiesOfTheirOwn() {
        var batch = RequestBatch(.init(origin: origin, pathPrefix: "/send"))
        batch.append(path: [], body: Array("one".utf8))
        batch.append(path: [], body: [])
        batch.append(path: [], body: Array("three".utf8))
        let bodies = (0..<3).map { batch.withBody($0) { String(decoding: $0, as: UTF8.self) } }
        #expect(bodies == ["one", "", "three"])
    }
}
