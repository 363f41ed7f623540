/// A picture, a sound or whatever else a rich push announced.
public struct RichNotification: Hashable, Sendable {
    /// As in the push.
    public let id: Int32
    /// What the sender said about it.
    public let message: String
    /// A short word for what it is: `img`, `sound`, `url`, `text`, `file` or one that sender and app have agreed on.
    public let type: String
    /// Its media type, such as `image/png`; the sender chose that, so believe it no more than the sender.
    public let contentType: String
    /// Its bytes, or the file that holds them.
    public let content: PayloadContent
}
