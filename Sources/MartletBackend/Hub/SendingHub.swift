import MartletCore
import MartletModel

/// The backend's hub with the platforms that it can send to now.
struct SendingHub: Sendable {
    let id: Hub.ID
    let platforms: [any PushPlatform.Type]

    /// A message for each platform.
    /// - Throws: `BackendError` where it does not fit one of them.
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
    /// - Throws: `.nothingToSendWith`, or as `hub`.
    func sending() throws(BackendError) -> SendingHub {
        let hub = try hub()
        let platforms = directory.platforms(sentToFrom: hub.id)
        guard !platforms.isEmpty else { throw .nothingToSendWith }
        return SendingHub(id: hub.id, platforms: platforms)
    }
}
