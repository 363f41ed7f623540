/// Chance that repeats itself (SplitMix64), so that a failure can be looked at again.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func one<Element>(of list: [Element]) -> Element { list[below(list.count)] }

    mutating func text(upTo length: Int) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789-_./=".utf8)
        return String(decoding: (0..<below(length + 1)).map { _ in one(of: alphabet) }, as: UTF8.self)
    }

    mutating func bytes(upTo length: Int) -> [UInt8] { (0..<below(length + 1)).map { _ in UInt8(below(256)) } }
}
