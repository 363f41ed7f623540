public import MartletCore
import MartletCrypto
import MartletHTTP
import MartletModel
import Synchronization

/// Manages the console's operators with their invitations, roles and sessions.
public final class OperatorDirectory: Sendable {
    /// How long an invitation or a sign-in link can be used.
    static let linkLifetime = Duration.seconds(900)
    /// The allowed lengths of a password, in bytes of UTF-8.
    static let passwordLengths = 8...1024
    /// The maximum size of an operator's settings, in bytes of JSON.
    static let settingsLimit = 2048
    /// The maximum number of operators.
    static let countLimit = 1000

    let store: any OperatorStore & OperatorFactorStore
    let time: any TimeSource
    /// Whether there are any operators.
    ///
    /// Without operators there is no console.
    private let exists: Mutex<Bool>
    /// A function that is called when an operator's roles or sessions have changed, with the operator's name in lower
    /// case.
    private let observer = Mutex<(@Sendable (String) -> Void)?>(nil)

    public init(store: any OperatorStore & OperatorFactorStore, time: any TimeSource) async throws(StorageError) {
        self.store = store
        self.time = time
        exists = Mutex(try await store.hasOperators())
    }

    /// Whether there are no operators.
    public var isEmpty: Bool { !exists.withLock(\.self) }

    /// Reads again whether there are operators, and reports every operator as changed, because other processes may have
    /// changed the store.
    public func refresh() async throws(StorageError) {
        let known = try await store.operators(at: time.now)
        exists.withLock { $0 = !known.isEmpty }
        for name in known.map(\.entry.name) { changed(name) }
    }

    func onChange(_ observer: @escaping @Sendable (String) -> Void) {
        self.observer.withLock { $0 = observer }
    }

    func changed(_ name: String) {
        observer.withLock(\.self)?(name.lowercased())
    }

    /// Makes a token for a link or a session: 43 characters.
    static func makeToken() -> String { Base64URL.encode(RandomBytes.generate(32)) }

    static func hash(of token: String) -> [UInt8] { SHA256.hash(Array(token.utf8)) }

    /// Adds an operator, or gives an existing operator new roles and enables it, and makes an invitation.
    /// - Returns: The token of the invitation, and when the invitation expires.
    func invite(_ name: String, _ roles: RoleGrants) async throws(OperatorError) -> (token: String, until: Timestamp) {
        guard Operator.isName(name) else { throw .badName }
        guard !roles.isEmpty, roles.grants.count <= RoleGrants.countLimit else { throw .badRoles }
        let now = time.now
        let (token, link) = makeLink(.invitation, of: name)
        let known = try await stored { () throws(StorageError) in try await store.operators(at: now) }
        if let entry = known.first(where: { $0.entry.name.lowercased() == name.lowercased() })?.entry {
            guard entry.identity == nil else { throw .ofProvider(entry.name) }
            _ = try await change(name, .roles(roles))
            _ = try await change(name, .isDisabled(false))
            guard try await stored({ () throws(StorageError) in try await store.addLink(link) }) else {
                throw .notFound(name)
            }
        } else {
            guard known.count < Self.countLimit else { throw .tooMany }
            let entry = Operator(name: name, roles: roles, createdAt: now)
            try await stored { () throws(StorageError) in try await store.invite(entry, by: link) }
        }
        exists.withLock { $0 = true }
        return (token, link.expiresAt)
    }

    /// Makes a link with which an operator can sign in once.
    /// - Parameter name: The operator's name. If it is nil, the link is for the only operator who may administer the
    ///   whole server; if there is not exactly one such operator, `OperatorError.ambiguous` is thrown.
    func signInLink(_ name: String?) async throws(OperatorError) -> (name: String, token: String, until: Timestamp) {
        let all = try await list().map(\.entry)
        let entry: Operator
        if let name {
            guard let named = all.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                throw .notFound(name)
            }
            guard !named.isDisabled else { throw .disabled(named.name) }
            guard named.identity == nil else { throw .ofProvider(named.name) }
            entry = named
        } else {
            let admins = all.filter { $0.roles.overall == .admin && !$0.isDisabled && $0.identity == nil }
            guard admins.count == 1 else { throw .ambiguous(admins.map(\.name)) }
            entry = admins[0]
        }
        let (token, link) = makeLink(.signIn, of: entry.name)
        guard try await stored({ () throws(StorageError) in try await store.addLink(link) }) else {
            throw .notFound(entry.name)
        }
        return (entry.name, token, link.expiresAt)
    }

    private func makeLink(_ kind: OperatorLink.Kind, of name: String) -> (token: String, OperatorLink) {
        let token = Self.makeToken()
        return (
            token,
            OperatorLink(
                tokenHash: Self.hash(of: token), kind: kind, operatorName: name,
                expiresAt: time.now + Self.linkLifetime)
        )
    }

    func list() async throws(OperatorError) -> [OperatorSummary] {
        try await stored { () throws(StorageError) in try await store.operators(at: time.now) }
    }

    func change(_ name: String, _ change: OperatorChange) async throws(OperatorError) -> OperatorSummary {
        if case .roles(let roles) = change {
            guard !roles.isEmpty, roles.grants.count <= RoleGrants.countLimit else { throw .badRoles }
            let entry = try await stored { () throws(StorageError) in try await store.operator(name) }
            if let entry, entry.identity != nil { throw .ofProvider(entry.name) }
        }
        let result = try await stored { () throws(StorageError) in try await store.change(name, change) }
        switch result {
        case .notFound: throw .notFound(name)
        case .isLastAdmin: throw .isLastAdmin
        case .changed: break
        }
        changed(name)
        guard let found = try await list().first(where: { $0.entry.name.lowercased() == name.lowercased() }) else {
            throw .notFound(name)
        }
        return found
    }

    func endSessions(of name: String, except kept: [UInt8]? = nil) async throws(OperatorError) {
        let isThere = try await stored { () throws(StorageError) in
            try await store.endSessions(of: name, except: kept)
        }
        guard isThere else { throw .notFound(name) }
        changed(name)
    }

    /// Removes the second factor of an operator and ends all sessions of the operator.
    func resetFactor(of name: String) async throws(OperatorError) {
        let isThere = try await stored { () throws(StorageError) in try await store.removeFactor(of: name) }
        guard isThere else { throw .notFound(name) }
        try await endSessions(of: name)
    }

    private func stored<Value>(_ work: () async throws(StorageError) -> Value) async throws(OperatorError) -> Value {
        do throws(StorageError) {
            return try await work()
        } catch {
            throw .storage(error)
        }
    }
}

/// The reason why an operator could not be invited or changed.
enum OperatorError: Error, CustomStringConvertible {
    case badName
    case badRoles
    case tooMany
    case notFound(String)
    case disabled(String)
    case isLastAdmin
    /// The operator with this name signs in with an identity provider, which determines the roles.
    case ofProvider(String)
    /// No name was given, and there is not exactly one operator who may administer the whole server.
    ///
    /// The value contains the names of all such operators.
    case ambiguous([String])
    case storage(StorageError)

    var description: String {
        switch self {
        case .badName:
            "The name of an operator has 1 to 64 characters: letters, digits, '.', '_', '-' and '@', the first a letter or a "
                + "digit."
        case .badRoles:
            "A role is admin, sender or viewer, for all hubs or for one, such as sender@shop; an operator has 1 to "
                + "\(RoleGrants.countLimit)."
        case .tooMany: "There are \(OperatorDirectory.countLimit) operators already."
        case .notFound(let name): "There is no operator named '\(name)'."
        case .disabled(let name): "The operator '\(name)' is disabled: 'martlet operator enable \(name)'."
        case .isLastAdmin:
            "This is the last operator who may administer the whole server: invite another one first."
        case .ofProvider(let name):
            "The operator '\(name)' signs in by the identity provider, which gives the roles: change the groups there, or "
                + "choose another name."
        case .ambiguous(let names):
            names.isEmpty
                ? "There is no operator who may administer the server: 'martlet operator invite NAME --role admin'."
                : "There are several operators who may administer the server: name one of \(names.joined(separator: ", "))."
        case .storage(let error): "The operators could not be read or written: \(error)"
        }
    }

    var status: HTTPStatus {
        switch self {
        case .badName, .badRoles: .badRequest
        case .notFound: .notFound
        case .tooMany, .disabled, .isLastAdmin, .ofProvider, .ambiguous: .conflict
        case .storage(let error): error.kind == .full ? .insufficientStorage : .serviceUnavailable
        }
    }
}
