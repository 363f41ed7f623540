/// The maximum rate at which messages are sent to a push service.
public struct SendingRate: Hashable, Sendable {
    /// The account at the push service to which the rate applies. The messages of all hubs and platforms with the same
    /// account are counted together.
    public var account: String
    /// The maximum number of messages in any minute. After an idle time, a sender begins with a tenth of this rate and
    /// reaches the full rate within one minute.
    public var messagesPerMinute: Int

    public init(account: String, messagesPerMinute: Int) {
        self.account = account
        self.messagesPerMinute = messagesPerMinute
    }
}
