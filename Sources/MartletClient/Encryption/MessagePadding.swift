/// How messages are padded, so that the lengths of encrypted ones tell little of what is in them.
///
/// An encrypted message has one of nine lengths: 256 bytes, 512, 1024 and so on, doubled up to 65,536. "Yes" and "No,
/// we are not going to" are the same. Up to 1,945 bytes of text come to at most 2,048, which in Base 64 fits into a push
/// of every platform.
enum MessagePadding {
    private static let shortest = 256

    /// How many zeros follow the delimiter of a message of this many bytes, at most `MessageCoding.messageLimit`.
    static func length(for count: Int) -> Int {
        var length = shortest
        while length < count + MessageCoding.overhead { length *= 2 }
        return length - count - MessageCoding.overhead
    }
}
