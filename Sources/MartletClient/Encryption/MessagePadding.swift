/// The padding of messages, so that the length of an encrypted message reveals little about its content.
///
/// An encrypted message has one of nine lengths: 256 bytes, 512, 1024 and so on, doubling up to 65,536. "Yes" and "No,
/// we are not going to" have the same length. A text of up to 1,945 bytes becomes an encrypted message of at most 2,048
/// bytes. In Base64, such a message fits into a push of every platform.
enum MessagePadding {
    private static let shortest = 256

    /// Returns the number of zeros after the delimiter of a message.
    /// - Parameter count: The length of the message in bytes, at most `MessageCoding.messageLimit`.
    static func length(for count: Int) -> Int {
        var length = shortest
        while length < count + MessageCoding.overhead { length *= 2 }
        return length - count - MessageCoding.overhead
    }
}
