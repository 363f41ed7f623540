/// Remembers, one bit per channel, which channels a notification has reached, so that a resumed page does not send
/// twice. The bits survive the end of the process without being written one by one; they may be lost with power.
public protocol ProgressMaps: Sendable {
    /// The map of a notification, made where there is none.
    /// - Parameters:
    ///   - notification: The sequence number of the notification.
    ///   - lastChannel: The highest channel that the map will be asked about.
    func map(for notification: Int64, through lastChannel: ChannelID) throws(StorageError) -> any ProgressMap

    /// Forgets the map of a notification that is final.
    func remove(_ notification: Int64) throws(StorageError)
}

/// The bits of one notification. Thread-safe.
public protocol ProgressMap: Sendable {
    func contains(_ channel: ChannelID) -> Bool
    func insert(_ channel: ChannelID)
}
