public import MartletModel

/// Registers devices. All registrations go through this type, for both the hub's API and the app backend.
public struct DeviceRegistry: Sendable {
    let store: any DeviceStore
    let platforms: PushPlatformList
    let time: any TimeSource
    private let lifetime: @Sendable (Hub.ID) -> Duration?

    /// Creates the registry.
    /// - Parameter lifetime: Returns, for a hub, the time from the last write of a registration to its expiry; nil if
    ///   registrations of the hub do not expire.
    public init(
        store: any DeviceStore, platforms: PushPlatformList, time: any TimeSource,
        lifetime: @escaping @Sendable (Hub.ID) -> Duration? = { _ in nil }
    ) {
        self.store = store
        self.platforms = platforms
        self.time = time
        self.lifetime = lifetime
    }

    /// Returns a new random id in the hub's own form (`RegistrationIDNumbers`): two numbers of 19 digits and the number
    /// 1, separated by hyphens.
    public static func newID() -> String {
        var random = SystemRandomNumberGenerator()
        func digits() -> String { String(Int64.random(in: 1_000_000_000_000_000_000...Int64.max, using: &random)) }
        return "\(digits())-\(digits())-1"
    }

    /// Creates or replaces a registration.
    /// - Parameters:
    ///   - template: The template; nil for a native registration.
    ///   - takesHandle: Whether to remove all other registrations of the handle.
    /// - Throws: `DeviceRegistryError`; then nothing has changed.
    public func put(
        _ id: String, in hub: Hub.ID, platform: PlatformID, handle: PushHandle, tags: [Tag],
        template: Template? = nil, pushVariables: [String: String] = [:], secondaryTile: String? = nil,
        condition: WriteCondition = .none, takesHandle: Bool = false
    ) async throws(DeviceRegistryError) -> Registration {
        try Self.check(id)
        let draft = try draft(
            in: hub, platform: platform, handle: handle, tags: tags, template: template, pushVariables: pushVariables,
            secondaryTile: secondaryTile, takesHandle: takesHandle)
        return try await apply(.put(draft, id: id, condition: condition), in: hub)
    }

    /// Checks a registration, and returns the draft that `put` would store. For callers that write many registrations
    /// at once.
    public func draft(
        in hub: Hub.ID, platform: PlatformID, handle: PushHandle, tags: [Tag], template: Template? = nil,
        pushVariables: [String: String] = [:], secondaryTile: String? = nil, takesHandle: Bool = false
    ) throws(DeviceRegistryError) -> RegistrationDraft {
        let key = try key(of: handle, on: platform)
        try Self.check(pushVariables)
        guard (secondaryTile ?? "").unicodeScalars.count <= Template.nameLimit else {
            throw .invalid("The name of a secondary tile has at most \(Template.nameLimit) characters.")
        }
        return RegistrationDraft(
            platform: platform, handle: handle, handleKey: key, tags: try unique(tags),
            template: try prepared(template, on: platform), pushVariables: pushVariables,
            secondaryTile: secondaryTile, expiresAt: expiry(in: hub), takesHandle: takesHandle)
    }

    /// Checks whether a text can be the id of a registration.
    /// - Throws: `.invalid` if it cannot.
    public static func check(_ id: String) throws(DeviceRegistryError) {
        guard isValid(id) else {
            throw .invalid("A registration id has 1 to 256 printable ASCII characters without spaces and slashes.")
        }
    }

    /// Counts the audience that a send would have if it began now.
    /// - Parameters:
    ///   - platform: The platform; nil for all platforms.
    ///   - kind: The kind of registration; nil for both kinds.
    public func count(
        _ expression: TagExpression?, in hub: Hub.ID, platform: PlatformID? = nil, kind: AudienceQuery.Kind? = nil
    ) async throws(StorageError) -> AudienceCount {
        try await store.audienceCount(
            AudienceCountQuery(hub: hub, expression: expression, platform: platform, kind: kind, now: time.now))
    }

    /// Deletes a registration, and returns its last state.
    public func delete(
        _ id: String, in hub: Hub.ID, condition: WriteCondition = .none
    ) async throws(DeviceRegistryError) -> Registration {
        try await apply(.delete(id: id, condition: condition), in: hub)
    }

    public func registration(_ id: String, in hub: Hub.ID) async throws(DeviceRegistryError) -> Registration? {
        do throws(StorageError) {
            return try await store.registration(id, in: hub, at: time.now)
        } catch {
            throw .storage(error)
        }
    }

    public func registrations(
        in hub: Hub.ID, _ filter: RegistrationQuery.Filter = .all, after: Int64? = nil, limit: Int
    ) async throws(DeviceRegistryError) -> RegistrationPage {
        let query = RegistrationQuery(hub: hub, filter: filter, after: after, limit: limit, now: time.now)
        do throws(StorageError) {
            return try await store.registrations(query)
        } catch {
            throw .storage(error)
        }
    }

    /// Returns one page of the tags of the channels that a send reaches; see `DeviceStore.tags(beginningWith:of:)`.
    public func tags(beginningWith prefix: String, of query: AudienceQuery) async throws(StorageError) -> TagPage {
        try await store.tags(beginningWith: prefix, of: query)
    }

    /// Checks a handle, and returns the key by which the platform compares handles.
    /// - Throws: `.invalid` if the server does not know the platform, or if no device of the platform can have the
    ///   handle.
    public func key(of handle: PushHandle, on platform: PlatformID) throws(DeviceRegistryError) -> String {
        guard let known = platforms[platform] else { throw .invalid("There is no platform '\(platform)'.") }
        do throws(PushServiceError) {
            return try known.key(of: handle)
        } catch {
            throw .invalid(error.description)
        }
    }

    /// Lets the platform check a template, and returns the template in the form in which it is stored.
    private func prepared(
        _ template: Template?, on platform: PlatformID
    ) throws(DeviceRegistryError) -> Template? {
        guard let template else { return nil }
        do throws(PushServiceError) {
            return try platforms[platform]?.prepared(template)
        } catch {
            throw .invalid(error.description)
        }
    }

    private static func check(_ variables: [String: String]) throws(DeviceRegistryError) {
        guard variables.count <= Installation.pushVariableLimit else {
            throw .invalid("There may be at most \(Installation.pushVariableLimit) push variables.")
        }
        for (name, value) in variables {
            guard (1...Template.nameLimit).contains(name.unicodeScalars.count) else {
                throw .invalid("The name of a push variable has 1 to \(Template.nameLimit) characters.")
            }
            guard value.utf8.count <= Installation.pushVariableSizeLimit else {
                throw .invalid("A push variable has at most \(Installation.pushVariableSizeLimit) bytes.")
            }
        }
    }

    /// Returns when a registration that is written now expires according to the hub's settings; nil if it never
    /// expires.
    func expiry(in hub: Hub.ID) -> Timestamp? {
        guard let lifetime = lifetime(hub) else { return nil }
        let end = time.now + lifetime
        return end < .distantFuture ? end : nil
    }

    private func apply(
        _ change: RegistrationChange, in hub: Hub.ID
    ) async throws(DeviceRegistryError) -> Registration {
        let result: Result<Registration, RegistrationRefusal>
        do throws(StorageError) {
            result = try await store.apply(change, in: hub, at: time.now)
        } catch {
            throw .storage(error)
        }
        switch result {
        case .success(let registration): return registration
        case .failure(let refusal): throw .refused(refusal)
        }
    }

    private func unique(_ tags: [Tag]) throws(DeviceRegistryError) -> [Tag] {
        let unique = tags.unique
        guard unique.count <= Tag.countLimit else {
            throw .invalid("A registration has at most \(Tag.countLimit) tags.")
        }
        return unique
    }

    private static func isValid(_ id: String) -> Bool {
        (1...256).contains(id.utf8.count)
            && id.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "\\") }
    }
}

/// The reasons why a registration was not written or read.
public enum DeviceRegistryError: Error, Sendable {
    /// The input is wrong; the text explains how.
    case invalid(String)
    case refused(RegistrationRefusal)
    case storage(StorageError)
}
