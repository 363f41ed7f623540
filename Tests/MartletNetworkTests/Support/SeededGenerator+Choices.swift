import MartletTesting

extension SeededGenerator {
    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

    mutating func one<Element>(of list: [Element]) -> Element { list[below(list.count)] }

    mutating func text(upTo length: Int) -> String {
        let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789-_./=".utf8)
        return String(decoding: (0..<below(length + 1)).map { _ in one(of: alphabet) }, as: UTF8.self)
    }

    mutating func bytes(upTo length: Int) -> [UInt8] { (0..<below(length + 1)).map { _ in UInt8(below(256)) } }
}
