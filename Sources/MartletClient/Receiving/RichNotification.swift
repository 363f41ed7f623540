/// The content of a rich push, such as a picture or a sound.
public struct RichNotification: Hashable, Sendable {
    /// The id of the content at the server, as the push carried it.
    public let id: Int32
    /// The sender's text about the content; empty if there is none.
    public let message: String
    /// A short word for the kind of content: `img`, `sound`, `url`, `text`, `file` or a word that sender and app have
    /// agreed on.
    public let type: String
    /// The media type, such as `image/png`. The sender chose it, so trust the media type no more than the sender.
    public let contentType: String
    /// The bytes of the content, or the file that contains them.
    public let content: PayloadContent
}
