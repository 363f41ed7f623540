/// The highest rate at which messages are sent to a service.
public struct SendingRate: Hashable, Sendable {
    /// The account whose messages are counted together, in all hubs and on all platforms.
    public var account: String
    /// The most messages in any minute. After an idle time, a sender begins with a tenth of this rate and reaches it in
    /// one minute.
    public var messagesPerMinute: Int

    public init(account: String, messagesPerMinute: Int) {
        self.account = account
        self.messagesPerMinute = messagesPerMinute
    }
}
