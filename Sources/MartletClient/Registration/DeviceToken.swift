/// The text form of device tokens, which the system hands out as bytes.
enum DeviceToken {
    /// Two upper-case hexadecimal digits per byte.
    static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
