public import MartletCore
public import MartletCrypto

/// The directory of the app backend's accounts. It stores users and verifies their passwords.
public struct UserDirectory: Sendable {
    let store: any UserStore
    private let time: any TimeSource
    private let hashing: Argon2idQueue
    private let cost: Argon2id.Parameters

    /// - Parameters:
    ///   - hashing: The queue in which passwords are hashed. Hashing is slow on purpose.
    ///   - cost: The hashing cost of a new password.
    public init(
        store: any UserStore, time: any TimeSource, hashing: Argon2idQueue = Argon2idQueue(),
        cost: Argon2id.Parameters = .standard
    ) {
        self.store = store
        self.time = time
        self.hashing = hashing
        self.cost = cost
    }

    /// The maximum length of a password, in bytes of UTF-8.
    public static let passwordLimit = 1024

    /// Adds a user. If the user already exists, sets a new password and ends the user's sessions.
    /// - Parameter roles: Roles that the user gets in addition to any existing ones.
    /// - Returns: Whether the user is new.
    @discardableResult
    public func add(
        _ name: String, password: String, roles: Set<String> = []
    ) async throws(UserDirectoryError) -> Bool {
        let name = try userName(name)
        guard roles.allSatisfy(Self.isRole) else { throw .badRole }
        let hash = try await hash(password)
        let user = User(name: name.spelling, passwordHash: hash, createdAt: time.now)
        let isNew = try await stored { () throws(StorageError) in try await store.user(name.folded) == nil }
        try await stored { () throws(StorageError) in try await store.putUser(user) }
        for role in roles.sorted() { try await addRole(role, to: name.spelling) }
        return isNew
    }

    /// Sets a new password of an existing user and ends the user's sessions.
    ///
    /// Unlike `add`, this adds no user, even if the user is removed while the password is hashed.
    /// - Parameter roles: Roles that the user gets in addition to the existing ones.
    /// - Throws: `.notFound` if there is no such user, among other errors.
    public func changePassword(
        of name: String, to password: String, roles: Set<String> = []
    ) async throws(UserDirectoryError) {
        let name = try userName(name)
        guard roles.allSatisfy(Self.isRole) else { throw .badRole }
        let hash = try await hash(password)
        let isThere = try await stored { () throws(StorageError) in
            try await store.changePassword(of: name.folded, to: hash)
        }
        guard isThere else { throw .notFound(name.spelling) }
        for role in roles.sorted() { try await addRole(role, to: name.spelling) }
    }

    private func hash(_ password: String) async throws(UserDirectoryError) -> String {
        // Log-in ignores a line end after the password, so a password must not end with one.
        guard (1...Self.passwordLimit).contains(password.utf8.count),
            !password.utf8.contains(where: { [0x00, 0x0A, 0x0D].contains($0) })
        else { throw .badPassword }
        guard let hash = await hashing.hash(Array(password.utf8), parameters: cost) else { throw .busy }
        return hash
    }

    /// Gives a user a role. Does nothing if the user has it already.
    /// - Throws: `.notFound` if there is no such user, among other errors.
    public func addRole(_ role: String, to name: String) async throws(UserDirectoryError) {
        let name = try userName(name)
        guard Self.isRole(role) else { throw .badRole }
        let isThere = try await stored { () throws(StorageError) in try await store.addRole(role, to: name.folded) }
        guard isThere else { throw .notFound(name.spelling) }
    }

    /// Removes a role from a user. Does nothing if the user does not have it.
    public func removeRole(_ role: String, from name: String) async throws(UserDirectoryError) {
        let name = try userName(name)
        let isThere = try await stored { () throws(StorageError) in
            try await store.removeRole(role, from: name.folded)
        }
        guard isThere else { throw .notFound(name.spelling) }
    }

    func join(_ group: GroupName, _ user: UserName) async throws(UserDirectoryError) {
        let isThere = try await stored { () throws(StorageError) in
            try await store.addRole(group.role, to: user.folded)
        }
        guard isThere else { throw .notFound(user.spelling) }
    }

    func leave(_ group: GroupName, _ user: UserName) async throws(UserDirectoryError) {
        let isThere = try await stored { () throws(StorageError) in
            try await store.removeRole(group.role, from: user.folded)
        }
        guard isThere else { throw .notFound(user.spelling) }
    }

    static func isRole(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || ".-_".utf8.contains(byte)
            }
    }

    /// The maximum number of users that one call of `list` should return.
    public static let pageLimit = 200

    /// Returns users sorted by name, at most `limit` of them.
    /// - Parameters:
    ///   - prefix: The beginning of the names, compared without case; empty for all users.
    ///   - last: The name after which the list begins; nil to begin with the first user.
    public func list(
        beginningWith prefix: String = "", after last: String? = nil, limit: Int = pageLimit
    ) async throws(UserDirectoryError) -> [User] {
        try await stored { () throws(StorageError) in
            try await store.users(beginningWith: prefix, after: last, limit: limit)
        }
    }

    /// Returns a user and the number of its sessions.
    /// - Throws: `.notFound` if there is no such user, among other errors.
    public func account(of name: String) async throws(UserDirectoryError) -> (user: User, sessions: Int) {
        let name = try userName(name)
        let user = try await stored { () throws(StorageError) in try await store.user(name.folded) }
        guard let user else { throw .notFound(name.spelling) }
        let sessions = try await stored { () throws(StorageError) in
            try await store.sessionCount(of: name.folded, at: time.now)
        }
        return (user, sessions)
    }

    /// Ends all sessions of a user. The password stays, so the user can log in again.
    /// - Throws: `.notFound` if there is no such user, among other errors.
    public func endSessions(of name: String) async throws(UserDirectoryError) {
        let name = try await find(name)
        try await stored { () throws(StorageError) in try await store.removeSessions(of: name.folded) }
    }

    /// Returns the name of an existing user.
    /// - Throws: `.notFound` if there is no such user, among other errors.
    func find(_ name: String) async throws(UserDirectoryError) -> UserName {
        let name = try userName(name)
        let user = try await stored { () throws(StorageError) in try await store.user(name.folded) }
        guard user != nil else { throw .notFound(name.spelling) }
        return name
    }

    /// Removes a user and its sessions. `UserRemoval` also removes the user's devices.
    func remove(_ name: UserName) async throws(UserDirectoryError) {
        let wasThere = try await stored { () throws(StorageError) in try await store.removeUser(name.folded) }
        guard wasThere else { throw .notFound(name.spelling) }
    }

    /// Returns whether a password matches a hash.
    /// - Parameters:
    ///   - hash: The hash; nil if the user does not exist. The check then takes the same time and fails.
    ///   - share: The share of the hashing queue that the check uses.
    /// - Returns: nil if too many checks are waiting.
    func verify(_ password: [UInt8], against hash: String?, share: Argon2idQueue.Share) async -> Bool? {
        let isRight = await hashing.verify(password, against: hash ?? cost.decoy, share: share)
        return isRight.map { $0 && hash != nil }
    }

    private func userName(_ text: String) throws(UserDirectoryError) -> UserName {
        do throws(UserNameError) {
            return try UserName(text)
        } catch {
            throw .badName(error)
        }
    }

    private func stored<Value>(
        _ work: () async throws(StorageError) -> Value
    ) async throws(UserDirectoryError) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw .storage(error)
        }
    }
}

/// The reason why an account could not be added, changed or listed.
public enum UserDirectoryError: Error, Sendable, CustomStringConvertible {
    case badName(UserNameError)
    case badPassword
    case badRole
    case badGroup
    /// The given number of the user's devices cannot get the group's tag, because they have the maximum number of tags.
    case devicesAreFull(Int)
    case notFound(String)
    /// Too many passwords are being hashed.
    case busy
    case storage(StorageError)

    public var description: String {
        switch self {
        case .badName(let error): error.description
        case .badPassword:
            "A password has 1 to \(UserDirectory.passwordLimit) bytes and neither line ends nor NUL characters."
        case .badRole: "A role, such as admin, has 1 to 64 characters: a to z, digits, '.', '-' and '_'."
        case .badGroup: "A group has 1 to 64 characters: a to z, digits, '.', '-' and '_'."
        case .devicesAreFull(let count):
            "The user is in the group, but \(count) of its devices have as many tags as a device may have and did not "
                + "get the group's. They get it when their apps register them with fewer."
        case .notFound(let name): "There is no user named '\(name)'."
        case .busy: "Too many passwords are being checked; try again in a moment."
        case .storage(let error): "The users could not be read or written: \(error)"
        }
    }
}
