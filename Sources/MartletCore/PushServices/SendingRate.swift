/// How fast a service may be sent to.
public struct SendingRate: Hashable, Sendable {
    /// Whose messages are counted together, whichever hub and platform they belong to.
    public var account: String
    /// In any minute, at most. A sender that was idle begins with a tenth of the pace and takes a minute to reach it.
    public var messagesPerMinute: Int

    public init(account: String, messagesPerMinute: Int) {
        self.account = account
        self.messagesPerMinute = messagesPerMinute
    }
}
