import MartletModel

/// The data that the client keeps in its `CredentialStore`: the credentials, and the log-outs that the server does not
/// know about yet.
struct LogInRecord: Hashable, Storable {
    /// The credentials of the user who is logged in with a password; nil if there is none.
    var credentials: Credentials?
    /// The log-outs that the server must still be told about.
    var departures: [PendingLogOut] = []

    init() {}
}

/// A log-out that the server does not know about yet. The server must stop notifying this device for the user who
/// logged out.
struct PendingLogOut: Hashable, Sendable {
    /// The maximum number of log-outs that are kept; the oldest are dropped first.
    static let limit = 8

    /// The id of the registration to remove; nil if there is none.
    var registration: String?
    /// A bearer token of the user; nil if there was none.
    var token: String?
    /// Whether the token belongs to a session that must be ended.
    var endsSession = false
    /// The credentials of the user who logged out. If there is no token, or if the server refuses the token, the client
    /// opens a session with these credentials to tell the server about the log-out.
    var credentials: Credentials?

    /// Whether the server must be told about this log-out.
    var isDue: Bool { registration != nil || endsSession }

    /// The copy of this log-out that is stored. It contains the password only if there is no token.
    var kept: PendingLogOut {
        var departure = self
        if token != nil { departure.credentials = nil }
        return departure
    }
}

extension LogInRecord {
    init(_ bytes: [UInt8]?) {
        guard let json = bytes.flatMap({ try? JSON(parsing: $0) }) else { return }
        credentials = Credentials(json)
        departures = (json["departures"]?.array ?? []).map { departure in
            PendingLogOut(
                registration: departure["registration"]?.string, token: departure["token"]?.string,
                endsSession: departure["endsSession"]?.bool ?? false, credentials: Credentials(departure))
        }
    }

    var bytes: [UInt8]? {
        guard self != LogInRecord() else { return nil }
        var members = credentials?.members ?? [:]
        members["departures"] = .array(departures.suffix(PendingLogOut.limit).map { Self.json($0.kept) })
        return JSON.object(members).bytes
    }

    private static func json(_ departure: PendingLogOut) -> JSON {
        var members = departure.credentials?.members ?? [:]
        members["registration"] = departure.registration.map { .string($0) }
        members["token"] = departure.token.map { .string($0) }
        members["endsSession"] = .bool(departure.endsSession)
        return .object(members)
    }
}

extension Credentials {
    fileprivate init?(_ json: JSON) {
        guard let user = json["user"]?.string, let password = json["password"]?.string else { return nil }
        self.init(user: user, password: password)
    }

    /// The credentials as JSON members, for the store and for the request that opens a session.
    var members: [String: JSON] { ["user": .string(user), "password": .string(password)] }
}
