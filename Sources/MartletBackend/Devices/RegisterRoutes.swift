import MartletCore
import MartletHTTP
import MartletModel

/// Registers devices on behalf of their users.
struct RegisterRoutes: Sendable {
    let backend: Backend

    private static let bodyLimit = 32_768
    /// The maximum number of registrations of one handle that are examined.
    private static let searchLimit = 100
    /// The maximum number of attempts to register a device while the groups of its user change.
    private static let attemptLimit = 10
    /// The maximum number of devices of one user. Registrations that arrive at the same time can exceed the limit.
    static let deviceLimit = 200
    /// The rate at which one user may write registrations, in bytes: the average in a second, and the burst. Every
    /// change is kept for traces for a month, with its tags, so a limit on the number of devices alone does not limit
    /// the size of the stored data.
    static let byteRate = RequestRate(perSecond: 64, burst: 1_048_576)

    func add(to router: inout Router) {
        router.on(.post, "/api/register") { request, match in
            await backend.answer(request) { (caller) throws(BackendError) in
                let id = try await newID(for: caller.name, handle: match.target.item("handle")?.value ?? "")
                return answer(id, to: request)
            }
        }
        router.on(.put, "/api/register/{id}", bodyLimit: Self.bodyLimit, streamsBody: true) { request, match in
            await backend.answer(collecting: request) { (caller, request) throws(BackendError) in
                let body = try RegisterBody(request)
                try await admit(match["id"], bytes: request.body.count, for: caller.name)
                try await register(match["id"], body, for: caller)
                return HTTPResponse(.ok)
            }
        }
        router.on(.delete, "/api/register/{id}") { request, match in
            await backend.answer(request) { (caller) throws(BackendError) in
                try await delete(match["id"], for: caller.name)
                return HTTPResponse(.ok)
            }
        }
    }

    /// Returns the id to register a handle with. If the caller already has registrations of the handle, returns the id
    /// of the oldest one and deletes the others.
    private func newID(for user: UserName, handle: String) async throws(BackendError) -> String {
        let hub = try backend.hub.hub()
        guard !handle.isEmpty else { return DeviceRegistry.newID() }
        let keys = try keys(of: handle)
        var own: [Registration] = []
        for key in keys {
            own += try await registered { () throws(DeviceRegistryError) in
                try await backend.devices.registrations(
                    in: hub.id, .handle(platform: key.platform, key: key.key), limit: Self.searchLimit
                ).registrations.filter { $0.tags.contains(user.tag) }
            }
        }
        own.sort { $0.createdAt < $1.createdAt }
        for registration in own.dropFirst() { try await deleteIfThere(registration.id, in: hub, for: user) }
        return own.first?.id ?? DeviceRegistry.newID()
    }

    /// Returns, for each platform that accepts this handle, the key by which the platform compares handles.
    private func keys(of handle: String) throws(BackendError) -> [(platform: PlatformID, key: String)] {
        var keys: [(PlatformID, String)] = []
        var reasons: [String] = []
        for platform in backend.platforms {
            do throws(PushServiceError) {
                keys.append((platform.descriptor.platform, try platform.key(of: PushHandle(text: handle))))
            } catch {
                reasons.append(error.description)
            }
        }
        guard !keys.isEmpty else {
            throw .badHandle("No push platform has such handles. " + reasons.joined(separator: " "))
        }
        return keys
    }

    /// Checks that a registration stays within the limits of its user.
    private func admit(_ id: String, bytes: Int, for user: UserName) async throws(BackendError) {
        if let wait = backend.registrationBytes.take(
            user.folded, count: bytes, at: Self.byteRate, now: backend.time.now)
        {
            throw .tooManyRegistrations(retryAfter: wait.retryAfterSeconds)
        }
        let hub = try backend.hub.hub()
        let count = try await registered { () throws(DeviceRegistryError) in
            guard try await backend.devices.registration(id, in: hub.id) == nil else { return 0 }
            return try await backend.devices.registrations(in: hub.id, .tag(user.tag), limit: Self.deviceLimit)
                .registrations.count
        }
        guard count < Self.deviceLimit else { throw .tooManyDevices(Self.deviceLimit) }
    }

    /// Registers a device. If the user's groups change meanwhile, registers the device again, because the code that
    /// changes the groups may have listed the user's devices before this device was registered.
    private func register(_ id: String, _ body: RegisterBody, for caller: Caller) async throws(BackendError) {
        var groups = try await groups(of: caller)
        for _ in 0..<Self.attemptLimit {
            try await put(id, body, for: caller.name, in: groups)
            let current = try await self.groups(of: caller)
            if current == groups { return }
            groups = current
        }
        throw .busy
    }

    /// Returns the groups of the account with the caller's name, and the groups that the identity provider gives the
    /// caller.
    private func groups(of caller: Caller) async throws(BackendError) -> [Tag] {
        let account = try await backend.stored { () throws(StorageError) in
            try await backend.users.user(caller.name.folded)
        }
        return (account?.roles ?? []).union(caller.hasRolesOfProvider ? caller.roles : []).groupTags
    }

    private func put(
        _ id: String, _ body: RegisterBody, for user: UserName, in groups: [Tag]
    ) async throws(BackendError) {
        let hub = try backend.hub.hub()
        let platform = try backend.platform(named: body.platform)
        var given = (backend.settings.showsSenders ? [user.tag, user.fromTag] : [user.tag]) + groups
        if body.key != nil {
            guard let own = Tag.registration(id) else {
                throw .badKey("A device with a key is registered under an id from POST /api/register.")
            }
            given.append(own)
        }
        guard Set(body.tags).count + given.count <= Tag.countLimit else {
            throw .badTag("A device may ask for at most \(Tag.countLimit - given.count) tags.")
        }
        // The key is removed before the registration loses its own tag. If the process stops in between, no sender gets
        // a key whose pushes would not be delivered.
        if body.key == nil, try await isKeyed(id, in: hub) { _ = try await put(nil, of: id, for: user, in: hub) }
        _ = try await registered { () throws(DeviceRegistryError) in
            try await backend.devices.put(
                id, in: hub.id, platform: platform.descriptor.platform, handle: platform.handle(from: body.handle),
                tags: given + body.tags, condition: .tagged(user.tag), takesHandle: true)
        }
        guard let key = body.key else { return }
        guard try await put(key, of: id, for: user, in: hub) else { throw .registrationGone }
    }

    /// Stores the key of a registration; nil removes the key.
    /// - Returns: Whether the user has a registration with this id.
    private func put(
        _ key: DeviceKey?, of id: String, for user: UserName, in hub: Hub
    ) async throws(BackendError) -> Bool {
        try await backend.stored { () throws(StorageError) in
            try await backend.keys.putDeviceKey(key, of: id, tagged: user.tag, in: hub.id)
        }
    }

    /// Returns whether a registration was written with a key. Only in this case does the registration have its own tag.
    private func isKeyed(_ id: String, in hub: Hub) async throws(BackendError) -> Bool {
        guard let own = Tag.registration(id) else { return false }
        let registration = try await registered { () throws(DeviceRegistryError) in
            try await backend.devices.registration(id, in: hub.id)
        }
        return registration?.tags.contains(own) ?? false
    }

    private func delete(_ id: String, for user: UserName) async throws(BackendError) {
        let hub = try backend.hub.hub()
        guard try await deleteIfThere(id, in: hub, for: user) else { throw .noRegistration }
    }

    /// Deletes a registration of a user.
    /// - Returns: Whether the user had a registration with this id.
    @discardableResult
    private func deleteIfThere(
        _ id: String, in hub: Hub, for user: UserName
    ) async throws(BackendError) -> Bool {
        do throws(DeviceRegistryError) {
            _ = try await backend.devices.delete(id, in: hub.id, condition: .tagged(user.tag))
            return true
        } catch {
            if case .refused = error { return false }
            throw BackendError(error)
        }
    }

    private func registered<Value>(
        _ work: () async throws(DeviceRegistryError) -> Value
    ) async throws(BackendError) -> Value {
        do throws(DeviceRegistryError) {
            return try await work()
        } catch {
            throw BackendError(error)
        }
    }

    /// Returns an answer with the id: a JSON string, unless the request asks for plain text. The apps of Microsoft's
    /// tutorials always cut off the quotes of a JSON string (NotificationHubs.md, section 14.2).
    private func answer(_ id: String, to request: HTTPRequest) -> HTTPResponse {
        let accept = request.fields.values(of: "accept").joined(separator: ",").lowercased()
        let ranges = accept.split(separator: ",").map { $0.prefix { $0 != ";" }.filter { $0 != " " } }
        guard ranges.contains("text/plain"), !ranges.contains("application/json") else {
            return HTTPResponse(.ok, json: .string(id))
        }
        return HTTPResponse(.ok, fields: ["content-type": "text/plain; charset=utf-8"], body: .bytes(Array(id.utf8)))
    }
}

extension BackendError {
    /// Creates the error for a failed registration. Another user's id gets the same error as an id that was used up. So
    /// a caller cannot tell the two cases apart, and an app whose user has changed requests a new id.
    fileprivate init(_ error: DeviceRegistryError) {
        self =
            switch error {
            case .invalid(let sentence): .badHandle(sentence)
            case .refused(.gone), .refused(.notTagged), .refused(.notMergeable): .registrationGone
            case .refused(.notFound), .refused(.versionMismatch): .noRegistration
            case .storage(let error): BackendError(error)
            }
    }
}
