import MartletModel

/// The registration data that is kept across launches. Never contains the device token.
struct RegistrationRecord: Hashable, Storable {
    /// The app's last request, if the server has not carried out the request yet.
    enum Due: String, Sendable {
        case register, unregister
    }

    /// The id under which this device is, or was last, registered; nil if there is none.
    var id: String?
    var due: Due?

    init(id: String? = nil, due: Due? = nil) {
        self.id = id
        self.due = due
    }

    init(_ bytes: [UInt8]?) {
        guard let json = bytes.flatMap({ try? JSON(parsing: $0) }) else { return }
        id = json["id"]?.string
        due = json["due"]?.string.flatMap { Due(rawValue: $0) }
    }

    var bytes: [UInt8]? {
        guard self != RegistrationRecord() else { return nil }
        var members: [String: JSON] = [:]
        members["id"] = id.map { .string($0) }
        members["due"] = due.map { .string($0.rawValue) }
        return JSON.object(members).bytes
    }

    /// The registration state at launch, before the app has passed a token.
    var state: RegistrationState {
        switch due {
        case .register: .tokenNeeded
        case .unregister: .underWay
        case nil: id == nil ? .unregistered : .registered
        }
    }
}
