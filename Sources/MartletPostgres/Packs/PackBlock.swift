/// A block of the channels of one scope: the part of a hub's registrations that one pack contains.
struct PackBlock: Hashable, Sendable {
    let shard: Shard
    let scope: Scope
    let number: Int64

    /// The number of channel numbers in a block. Two or three blocks hold a page of 5,000 devices.
    static let size: Int64 = 4096

    /// The first channel of the block.
    var first: Int64 { number * Self.size }
    /// The channel after the last channel of the block.
    var end: Int64 { first + Self.size }

    /// Returns the number of the block that contains a channel.
    static func number(of channel: Int64) -> Int64 { channel / size }
}
