import CMartletNGHTTP2
import MartletHTTP
import MartletTesting
import Testing

@testable import MartletNetwork

struct PlainHeadTests {
    private static let ignored = ["apns-id", "x-0"].flatMap { PlainHead.forms(of: $0) }

    private static func status(_ block: [UInt8]) -> Int? {
        block.withUnsafeBytes { PlainHead.status($0, ignoring: ignored) }
    }

    private static func literal(_ name: String, _ value: String, first: UInt8 = 0) -> [UInt8] {
        [first, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
    }

    @Test func theFormsOfServicesAreRead() {
        let id = Self.literal("apns-id", "0123")
        for first: UInt8 in [0x08, 0x0E, 0x18, 0x48] {
            #expect(Self.status([first, 3] + Array("410".utf8) + id) == 410)
        }
        #expect(Self.status([0x8C] + id + Self.literal("x-0", "", first: 0x40)) == 400)
        #expect(Self.status([0x8D]) == 404)
        // RFC 7541, C.6: the Huffman codes of 302 and 307.
        #expect(Self.status([0x48, 0x82, 0x64, 0x02]) == 302)
        #expect(Self.status([0x48, 0x83, 0x64, 0x0E, 0xFF]) == 307)
        // "apns-id" and its value as Huffman codes; the value is not read.
        #expect(Self.status([0x8E, 0x00, 0x85, 0x1D, 0x75, 0x48, 0x59, 0xB2 | 0x01, 0x82, 0xFF, 0xFE]) != 200)
    }

    @Test func whatIsReadOrNotSimpleIsLeftToTheDecoder() {
        let status: [UInt8] = [0x08, 3] + Array("410".utf8)
        for rest in [
            Self.literal("retry-after", "5"), Self.literal(":status", "200"), Self.literal("apns-ie", "1"), [0x88],
            [0x20], [0x0F, 0x10, 0], [0x00, 0x7F, 0], [0x00], [0x00, 7], Array(Self.literal("apns-id", "1").dropLast()),
        ] as [[UInt8]] {
            #expect(Self.status(status + rest) == nil)
        }
        for block in [
            [], [0x20, 0x88], [0x08, 3] + Array("4x0".utf8), [0x08, 3] + Array("103".utf8),
            [0x08, 2] + Array("41".utf8),
            [0x08, 4] + Array("0410".utf8), [0x08, 0x83, 0x64, 0x0E, 0xFE], [0x08, 0x82, 0x64],
            [0x01, 3, 0x34, 0x31, 0x30],
            Self.literal("apns-id", "1") + status,
        ] as [[UInt8]] {
            #expect(Self.status(block) == nil)
        }
    }

    /// What an independent encoder writes is read as it was meant.
    @Test func randomBlocksOfAnEncoderAreReadOrLeft() throws {
        var chance = SeededGenerator(seed: 7)
        var read = 0
        for _ in 0..<3000 {
            let status = 200 + chance.below(400)
            var fields = [(":status", String(status))]
            for _ in 0..<chance.below(3) {
                fields.append(
                    (chance.one(of: ["apns-id", "x-0", "x-0", "date", "retry-after"]), chance.text(upTo: 40)))
            }
            let block = try Self.encode(fields)
            guard let found = Self.status(block) else { continue }
            read += 1
            #expect(found == status)
            #expect(fields.dropFirst().allSatisfy { ["apns-id", "x-0"].contains($0.0) })
        }
        #expect(read > 1000)
    }

    private static func encode(_ fields: [(String, String)]) throws -> [UInt8] {
        var deflater: OpaquePointer?
        try #require(nghttp2_hd_deflate_new(&deflater, 0) == 0)
        defer { nghttp2_hd_deflate_del(deflater) }
        var bytes = fields.map { (Array($0.0.utf8), Array($0.1.utf8)) }
        var pairs: [nghttp2_nv] = []
        for index in bytes.indices {
            let (name, value) = (bytes[index].0, bytes[index].1)
            let start = UnsafeMutablePointer<UInt8>.allocate(capacity: name.count + value.count + 1)
            for (offset, byte) in (name + value).enumerated() { start[offset] = byte }
            pairs.append(
                nghttp2_nv(
                    name: start, value: start + name.count, namelen: name.count, valuelen: value.count,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue)))
        }
        bytes = []
        defer { for pair in pairs { pair.name.deallocate() } }
        var output = [UInt8](repeating: 0, count: 4096)
        // The first block announces the size of the table.
        try #require(nghttp2_hd_deflate_hd(deflater, &output, output.count, &pairs, 1) > 0)
        let count = nghttp2_hd_deflate_hd(deflater, &output, output.count, &pairs, pairs.count)
        try #require(count > 0)
        return Array(output[..<Int(count)])
    }
}
