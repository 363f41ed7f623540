import MartletCore
import MartletModel

/// The backend's hub with the platforms that it can currently send to.
struct SendingHub: Sendable {
    let id: Hub.ID
    let platforms: [any PushPlatform.Type]

    /// Renders a message for each platform.
    /// - Throws: `BackendError` if the message does not fit one of the platforms.
    func messages(_ data: DataMessage) throws(BackendError) -> [(platform: PlatformID, message: Message)] {
        var messages: [(PlatformID, Message)] = []
        for platform in platforms {
            do throws(PushServiceError) {
                messages.append((platform.descriptor.platform, try platform.message(carrying: data)))
            } catch {
                throw error.kind == .messageTooLarge
                    ? .messageTooLarge(error.description) : .badMessage(error.description)
            }
        }
        return messages
    }
}

extension BackendHub {
    /// Returns the backend's hub with the platforms that it can currently send to.
    /// - Throws: `.nothingToSendWith`, or the errors of `hub`.
    func sending() throws(BackendError) -> SendingHub {
        let hub = try hub()
        let platforms = platforms(of: hub)
        guard !platforms.isEmpty else { throw .nothingToSendWith }
        return SendingHub(id: hub.id, platforms: platforms)
    }

    /// Returns the platforms that a hub can currently send to; empty if the hub has no credentials.
    func platforms(of hub: Hub) -> [any PushPlatform.Type] { directory.platforms(sentToFrom: hub.id) }
}
