import CMartletNGHTTP2
import MartletHTTP
import MartletTesting
import Testing

@testable import MartletNetwork

/// The frames that are written by hand say what nghttp2's say: random batches against random peers, decoded by nghttp2.
@Suite struct BulkEqualityTests {
    @Test(arguments: 0..<40) func aRandomBatchArrivesAndIsAnsweredAsTheReferenceHasIt(_ seed: Int) throws {
        let bulk = try Trial(seed: seed, kind: .bulk)
        let reference = try Trial(seed: seed, kind: .reference)
        #expect(bulk.requests == reference.requests)
        #expect(bulk.entries == reference.entries)
        #expect(bulk.doubles == 0)
        #expect(bulk.indexed.isEmpty)
    }

    /// What the server made of one request.
    private struct Seen: Equatable {
        let method: HTTPMethod
        let authority: String
        let fields: [String]
        let body: [UInt8]
    }

    /// One batch between one client and one server, both made by chance from a seed.
    private struct Trial {
        var requests: [String: Seen] = [:]
        var entries: [Int: BatchLedger.Entry] = [:]
        var doubles = 0
        /// What was in the header table and must not be.
        var indexed: [String] = []

        init(seed: Int, kind: BulkPair.Kind) throws {
            var chance = SeededGenerator(seed: UInt64(seed))
            var settings = HTTP2Settings()
            settings.headerTableSize = chance.one(of: [0, 1, 37, 64, 100, 333, 1_000, 4_096, 65_536])
            settings.streamWindow = chance.one(of: [60, 900, 5_000, 65_535])
            settings.streamLimit = chance.one(of: [1, 3, 100])
            var limits = ServerLimits()
            limits.fieldBytes = 100_000
            let batches = (0..<1 + chance.below(3)).map { _ in Self.batch(&chance) }
            let pair = BulkPair(kind, limits: limits, settings: settings, dispatch: Self.dispatch(seed: seed))
            let cut = chance.one(of: [Cut.whole, .pieces])
            let ledgers = batches.map { _ in BatchLedger() }
            for (batch, ledger) in zip(batches, ledgers) {
                let now = pair.clientConnection.now
                pair.client.draw(from: ledger.run(batch, from: now, before: now + .seconds(9)))
                // The peer changes its mind in the middle.
                if chance.below(2) == 0 {
                    pair.client.receive(pair.server.written())
                    pair.server.receive(pair.client.written())
                    pair.server.nghttp2.submit(settings: [
                        (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, chance.one(of: [0, 50, 200, 4_096])),
                        (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, chance.one(of: [100, 1_000, 65_535])),
                    ])
                }
                pair.run(cut: cut)
            }
            for (index, ledger) in ledgers.enumerated() {
                try #require(ledger.entries.count == batches[index].count)
                doubles += ledger.doubles
                for (index, entry) in ledger.entries {
                    entries[index * 1_000 + index] = Self.asRead(entry)
                }
            }
            for request in pair.dispatch.requests { record(request) }
        }

        private mutating func record(_ request: HTTPRequest) {
            let fields = request.fields.map { "\($0.name): \($0.value)" }.sorted()
            requests[request.target] = Seen(
                method: request.method, authority: request.authority, fields: fields, body: request.body)
            if request.targetIndexing == .allowed { indexed.append(":path") }
            for field in request.fields where field.indexing == .allowed {
                if field.name.hasPrefix("own-") || field.name == "authorization" { indexed.append(field.name) }
            }
        }

        private static let ignored = ["x-answer-0", "date"]

        /// Removes fields that nobody reads, if an answer has no others.
        private static func asRead(_ entry: BatchLedger.Entry) -> BatchLedger.Entry {
            guard case .answer(let status, let fields, let body) = entry,
                fields.allSatisfy({ field in ignored.contains { field.hasPrefix("\($0): ") } })
            else { return entry }
            return .answer(status: status, fields: [], body: body)
        }

        private static func batch(_ chance: inout SeededGenerator) -> RequestBatch {
            var fields = HTTPFields()
            for number in 0..<chance.below(8) {
                let indexing = chance.one(of: [HTTPField.Indexing.allowed, .never])
                let length = chance.one(of: [0, 10, 150, 2_000])
                let name = indexing == .never ? "own-shared-\(number)" : "x-shared-\(number)"
                fields.append(HTTPField(name, chance.text(upTo: length), indexing: indexing))
            }
            if chance.below(2) == 0 { fields.append(HTTPField("authorization", chance.text(upTo: 300))) }
            if chance.below(6) == 0 { fields.append(HTTPField("x-huge", String(repeating: "h", count: 40_000))) }
            let names = (0..<chance.below(4)).map { "own-item-\($0)" }
            let bodies = [0, 1, 200, 18_000]
            let shared = chance.below(2) == 0 ? chance.bytes(upTo: chance.one(of: bodies)) : nil
            var parts = RequestBatch.Shared(
                origin: testOrigin, method: chance.one(of: [.post, .put, .get]),
                pathPrefix: "/" + chance.text(upTo: 200), fields: fields, itemFieldNames: names, body: shared)
            parts.ignoredAnswerFields = ignored
            var batch = RequestBatch(parts)
            // Items of equal lengths may be copies of each other's frames; now and then one of other lengths is between.
            let repeats = chance.one(of: [0, 0, 3, 30])
            var shapes: [(path: String, values: [[UInt8]], body: [UInt8]?)] = []
            while batch.count < 1 + chance.below(20) + repeats {
                if shapes.isEmpty || chance.below(3) == 0 {
                    shapes.append(
                        (
                            chance.text(upTo: 200), names.map { _ in Array(chance.text(upTo: 300).utf8) },
                            shared == nil ? chance.bytes(upTo: chance.one(of: bodies)) : nil
                        ))
                }
                let (path, values, body) = shapes[chance.below(shapes.count)]
                for turn in 0...repeats {
                    let number = String(chance.next(), radix: 2)
                    let index = path + "/" + String(repeating: "0", count: 64 - number.count) + number
                    batch.append(
                        path: index.utf8, values: values.map { Self.turned($0, by: turn) },
                        body: body.map { Self.turned($0, by: turn) })
                }
            }
            return batch
        }

        /// Other bytes of the same number.
        private static func turned(_ bytes: [UInt8], by count: Int) -> [UInt8] {
            guard !bytes.isEmpty else { return [] }
            let index = count % bytes.count
            return Array(bytes[index...] + bytes[..<index])
        }

        /// Answers that depend on the request alone.
        private static func dispatch(seed: Int) -> FakeDispatch {
            FakeDispatch { request, stream in
                var chance = SeededGenerator(seed: request.target.utf8.reduce(UInt64(seed)) { $0 &* 31 &+ UInt64($1) })
                let status = chance.one(of: [200, 200, 200, 201, 400, 410, 429, 503])
                var fields = HTTPFields()
                for number in 0..<chance.below(3) {
                    fields.append(HTTPField("x-answer-\(number)", chance.text(upTo: 100)))
                }
                let body = chance.below(2) == 0 ? [] : chance.bytes(upTo: chance.one(of: [10, 18_000]))
                stream.send(HTTPResponse(HTTPStatus(status), fields: fields, body: .bytes(body)))
            }
        }
    }
}
