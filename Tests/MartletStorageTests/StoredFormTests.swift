import MartletModel
import Testing

@testable import MartletStorage

struct StoredFormTests {
    @Test func handlesArePackedOnlyWhereTheyComeBackTheSame() {
        for text in ["00", "deadbeef", "0", "DEADBEEF", "dead", "g0", "", "deaD", "https://push.example/1"] {
            #expect(StoredHandle(text).text == text)
        }
        #expect(StoredHandle("00ff") == .packed([0, 255]))
        #expect(StoredHandle("00FF") == .text("00FF"))
    }

    @Test func everyByteIsTwoDigitsHoweverManyThereAre() {
        for count in 0...40 {
            for first in stride(from: 0, through: 255, by: 17) {
                let bytes = (0..<count).map { UInt8(truncatingIfNeeded: first + $0 * 29) }
                let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
                #expect(StoredHandle.packed(bytes).text == digits)
            }
        }
    }

    @Test func idsArePackedOnlyWhereTheyComeBackTheSame() {
        let (low, high) = ("1000000000000000000", "9999999999999999999")
        for text in [
            "\(low)-\(high)-1", "\(low)-\(high)-2", "\(low)-0\(low.dropLast())-1", "\(low)+\(high)-1",
            "\(low)-\(high)\(1)-1", "\(low)-\(high.dropLast())x-1", "1-2-1", "7d0c", "",
        ] {
            #expect(StoredID(text).text == text)
        }
        #expect(StoredID("\(low)-\(high)-2") == .text("\(low)-\(high)-2"))
        guard case .packed(let bytes) = StoredID("\(low)-\(high)-1") else {
            Issue.record("not packed")
            return
        }
        #expect(bytes.count == 16)
    }

    @Test func templatesComeBackFromTheirBytesAndOthersAreRefused() {
        let template = Template(
            name: "a", body: "b", headers: [.init(name: "c", value: "d")], options: ["e": "f", "g": ""])
        let bytes = TemplateCoding.encode(template)
        #expect(TemplateCoding.decode(bytes) == template)
        for end in 0..<bytes.count { #expect(TemplateCoding.decode(Array(bytes[..<end])) != template) }
        for count in ["-1", "2", "x", "9223372036854775807"] {
            #expect(TemplateCoding.decode(TextListCoding.encode(["b", count, "c", "d"])) == nil)
        }
    }
}
