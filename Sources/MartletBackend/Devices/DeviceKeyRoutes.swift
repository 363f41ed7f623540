import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel

/// The route that gives senders the keys of the devices that they encrypt for.
struct DeviceKeyRoutes: Sendable {
    let backend: Backend

    /// The maximum number of a user's devices for which a sender can encrypt. If the user has more, the most recently
    /// registered devices are used.
    static let deviceLimit = 100

    func add(to router: inout Router) {
        router.on(.get, "/api/users/{name}/keys") { request, match in
            await backend.answer(request) { (caller) throws(BackendError) in
                let user = try UserName(recipient: match["name"])
                let devices = try await backend.keyedDevices(of: user, for: caller, in: try backend.hub.hub().id)
                return HTTPResponse(
                    .ok, privateJSON: ["user": .string(user.folded), "devices": .array(devices.map(Self.json))])
            }
        }
    }

    private static func json(_ device: KeyedDevice) -> JSON {
        [
            "device": .string(device.registration), "platform": .string(device.platform.rawValue),
            "publicKey": .string(Base64URL.encode(device.key.publicKey)),
            "authSecret": .string(Base64URL.encode(device.key.authSecret)),
        ]
    }
}

extension Backend {
    /// Returns the devices of a user with their keys; an empty array if the caller may not send to the user. The caller
    /// cannot distinguish this case from a user who does not exist: the result is the same, and so is the time.
    func keyedDevices(
        of user: UserName, for caller: Caller, in hub: Hub.ID
    ) async throws(BackendError) -> [KeyedDevice] {
        let devices = try await stored { () throws(StorageError) in
            try await keys.deviceKeys(of: user.tag, in: hub, at: time.now, limit: DeviceKeyRoutes.deviceLimit)
        }
        return settings.policy.allows(caller, toSendTo: .users([user])) ? devices : []
    }
}
