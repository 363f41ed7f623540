import MartletModel

extension PushClient {
    /// Sends a text to all devices that a user has on one platform.
    /// - Parameters:
    ///   - text: Any text. The server puts the sender's name in front of the text.
    ///   - user: The name of one user. The server does not report whether the user exists.
    ///   - platform: The push platform.
    /// - Returns: The server's id of the notification.
    /// - Throws: `PushClientError`; unless its kind is `unreachable`, `serverProblem` or `cancelled`, nothing was sent.
    @discardableResult
    public func send(_ text: String, to user: String, platform: Platform) async throws(PushClientError) -> String {
        try await notify(text, user, platform: platform.rawValue) { $0["id"]?.string }
    }

    /// Sends a text to all devices of a user, on all platforms that the server can send to.
    ///
    /// If the text is too long for one of the platforms, nothing is sent.
    /// - Parameters:
    ///   - text: Any text. The server puts the sender's name in front of the text.
    ///   - user: The name of one user. The server does not report whether the user exists.
    /// - Returns: The server's ids of the notifications, by platform.
    /// - Throws: `PushClientError`; unless its kind is `unreachable`, `serverProblem` or `cancelled`, nothing was sent.
    @discardableResult
    public func send(_ text: String, to user: String) async throws(PushClientError) -> [Platform: String] {
        try await notify(text, user, platform: "all") { answer in
            answer["ids"]?.object.map { ids in
                Dictionary(
                    uniqueKeysWithValues: ids.compactMap { name, id in
                        id.string.map { (Platform(rawValue: name), $0) }
                    })
            }
        }
    }

    /// Sends a message to all devices of the users in an audience, on every platform, as one notification with one id.
    ///
    /// If the message does not fit one of the platforms, nothing is sent.
    /// - Parameters:
    ///   - message: The message that the devices show.
    ///   - audience: The users to notify. The server does not report whether these users exist.
    /// - Returns: The server's id of the notification.
    /// - Throws: `PushClientError`: `refused` if the message is invalid, or sets a member that only admins may set.
    ///   Unless the kind is `unreachable`, `serverProblem` or `cancelled`, nothing was sent.
    @discardableResult
    public func send(_ message: Message, to audience: Audience) async throws(PushClientError) -> String {
        try audience.check()
        var members = ["message": message.json]
        switch audience {
        case .me: break
        case .users(let names): members["to"] = .array(names.map { .string($0) })
        case .tags(let expression): members["tags"] = .string(expression)
        }
        let body = JSON.object(members)
        return try await retrying(isRepeatable: false) { () throws(RetryableFailure) in
            let answer = try await ask(request("POST", "/api/notifications/message", body))
            guard answer.status == 201 else { throw RetryableFailure(answer) }
            guard let id = (try? JSON(parsing: answer.body))?["id"]?.string else {
                throw .final(.serverProblem(status: 201), "The server's answer holds no id.")
            }
            return id
        }
    }

    /// Sends a text to a user.
    /// - Parameter ids: Returns what the caller needs of the server's answer; nil if the answer lacks it.
    private func notify<IDs: Sendable>(
        _ text: String, _ user: String, platform: String, ids: @Sendable (JSON) -> IDs?
    ) async throws(PushClientError) -> IDs {
        let target = "/api/notifications?pns=\(percentEncoded(platform))&to_tag=\(percentEncoded(user))"
        return try await retrying(isRepeatable: false) { () throws(RetryableFailure) in
            let answer = try await ask(request("POST", target, .string(text)))
            guard answer.status == 200 else { throw RetryableFailure(answer) }
            guard let ids = (try? JSON(parsing: answer.body)).flatMap(ids) else {
                throw .final(.serverProblem(status: 200), "The server's answer holds no id.")
            }
            return ids
        }
    }

    /// Sends content such as a picture or a sound. The content stays at the server, and devices are told to fetch it.
    /// - Parameters:
    ///   - content: The bytes of the content, or a file, which is read while it is sent.
    ///   - audience: The users who may fetch the content. The set of users does not change after the send.
    ///   - message: The text that devices show.
    ///   - type: A short word for the kind of content, `[a-z0-9-]{1,32}`; nil derives the word from the content type.
    ///   - contentType: The media type of the content, such as `image/png`.
    ///   - lifetime: How long the content can be fetched; nil means the server's default (7 days, unless configured
    ///     otherwise).
    /// - Returns: The id with which the content is fetched.
    /// - Throws: `PushClientError`: `messageTooLong` if the content is larger than the server accepts, or exceeds the
    ///   user's quota at the server; `refused` if the audience has no recipient; `storageProblem` if the file cannot be
    ///   read. Unless the kind is `unreachable`, `serverProblem` or `cancelled`, nothing was sent.
    @discardableResult
    public func sendRich(
        _ content: PayloadContent, to audience: Audience, message: String = "", type: String? = nil,
        contentType: String, expiresIn lifetime: Duration? = nil
    ) async throws(PushClientError) -> Int32 {
        guard contentType.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) else {
            throw PushClientError(.refused(status: 400), "A content type consists of printable ASCII characters.")
        }
        try audience.check()
        var form = MultipartForm()
        switch audience {
        case .me: break
        case .users(let names): for name in names { form.add("to", name) }
        case .tags(let expression): form.add("tags", expression)
        }
        form.add("message", message)
        if let type { form.add("type", type) }
        if let lifetime { form.add("expiresIn", String(lifetime.components.seconds)) }
        let upload = form.upload("file", contentType: contentType, try upload(content))
        return try await sendStored(
            ClientRequest(
                "POST", server.base + "/api/notifications/rich",
                fields: ["accept": "application/json", "content-type": form.contentType], upload: upload))
    }

    /// Sends a secret text. The server stores the text encrypted, and tells devices to fetch it.
    /// - Parameters:
    ///   - text: The secret text, at most 64 KiB.
    ///   - audience: The users who may fetch the text. The set of users does not change after the send.
    ///   - message: The text that devices show if no user is logged in. It passes through push services. nil means that
    ///     each app shows a text of its own.
    ///   - once: Whether each user can fetch the text only once.
    ///   - lifetime: How long the text can be fetched; nil means the server's default.
    /// - Returns: The id with which the text is fetched.
    /// - Throws: `PushClientError`: `refused` if the audience has no recipient. Unless the kind is `unreachable`,
    ///   `serverProblem` or `cancelled`, nothing was sent.
    @discardableResult
    public func sendSecure(
        _ text: String, to audience: Audience, message: String? = nil, once: Bool = false,
        expiresIn lifetime: Duration? = nil
    ) async throws(PushClientError) -> Int32 {
        try audience.check()
        var members: [String: JSON] = ["payload": .string(text), "once": .bool(once)]
        members["message"] = message.map { .string($0) }
        members["expiresIn"] = lifetime.map { .integer($0.components.seconds) }
        switch audience {
        case .me: break
        case .users(let names): members["to"] = .array(names.map { .string($0) })
        case .tags(let expression): members["tags"] = .string(expression)
        }
        return try await sendStored(request("POST", "/api/notifications/secure", .object(members)))
    }

    private func upload(_ content: PayloadContent) throws(PushClientError) -> ClientUpload {
        switch content {
        case .bytes(let bytes): return ClientUpload(bytes)
        case .file(let path):
            guard let file = ReadableFile(path) else {
                throw PushClientError(.storageProblem, "The file that is to be sent cannot be read.")
            }
            return ClientUpload(file)
        }
    }

    private func sendStored(_ request: ClientRequest) async throws(PushClientError) -> Int32 {
        try await retrying(isRepeatable: false) { () throws(RetryableFailure) in
            let answer = try await ask(request)
            guard answer.status == 201 else { throw RetryableFailure(answer) }
            guard let id = (try? JSON(parsing: answer.body))?["id"]?.integer.flatMap({ Int32(exactly: $0) }) else {
                throw .final(.serverProblem(status: 201), "The server's answer holds no id.")
            }
            return id
        }
    }
}
