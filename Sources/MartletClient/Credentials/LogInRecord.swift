import MartletModel

/// What is kept in the credential store.
struct LogInRecord: Hashable, Storable {
    /// Who is logged in with a password; nil where nobody is.
    var credentials: Credentials?
    /// Who has logged out and of whom the server still has to be told.
    var departures: [PendingLogOut] = []

    init() {}
}

/// A log-out that the server has not heard of: this device must not be notified for that user any more.
struct PendingLogOut: Hashable, Sendable {
    /// How many are kept; the oldest go first.
    static let limit = 8

    /// The id of the registration to remove; nil where there is none.
    var registration: String?
    /// A bearer token of the user; nil where there was none.
    var token: String?
    /// Whether the token is of a session that is to end.
    var endsSession = false
    /// What opens a session where there is no token.
    var credentials: Credentials?

    /// Whether the server is to be told anything.
    var isDue: Bool { registration != nil || endsSession }

    /// What is kept of it: no password where a token will do.
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

    /// As JSON members, of the request that opens a session as well.
    var members: [String: JSON] { ["user": .string(user), "password": .string(password)] }
}
