import MartletModel

extension PushClient {
    /// Called while content is received, with the number of bytes received so far and the total number (nil if it is
    /// not known).
    public typealias Progress = @Sendable (_ received: Int64, _ total: Int64?) -> Void

    /// Fetches the content of a rich push.
    ///
    /// If the connection breaks, the next attempt fetches only the missing bytes.
    /// - Parameters:
    ///   - path: The file to write the content to. The file appears once it is complete, and the whole content is never
    ///     in memory. nil collects the content in memory.
    ///   - limit: The maximum size of content that is collected in memory, in bytes.
    ///   - progress: Called for each piece, on any thread. It must return quickly.
    /// - Returns: The content, or what to show if no user is logged in.
    /// - Throws: `PushClientError`; `notFound` if the content has expired or is for another user, `contentTooLong` if
    ///   it exceeds `limit`, `storageProblem` if the file cannot be written.
    public func fetch(
        _ reference: RichReference, to path: String? = nil, limit: Int = 10 << 20, progress: Progress? = nil
    ) async throws(PushClientError) -> Fetched<RichNotification> {
        try await unlessLoggedOut(reference.message.isEmpty ? nil : reference.message) { () throws(PushClientError) in
            let (contentType, content) =
                if let path {
                    try await download(reference.id, to: path, progress)
                } else {
                    try await download(reference.id, limit: limit, progress)
                }
            return RichNotification(
                id: reference.id, message: reference.message, type: reference.type, contentType: contentType,
                content: content)
        }
    }

    /// Fetches the text of a secure push. This counts as reading it; a text that can be read only once is then deleted.
    /// - Returns: The text, or what to show if no user is logged in.
    /// - Throws: `PushClientError`; `notFound` if the text has expired, was already read, or is for another user.
    public func fetch(_ reference: SecureReference) async throws(PushClientError) -> Fetched<SecureNotification> {
        try await unlessLoggedOut(reference.message) { () throws(PushClientError) in
            let answer = try await fetchJSON(reference.id)
            guard let text = answer["Payload"]?.string else { throw Self.otherKind }
            return SecureNotification(id: reference.id, text: text, wasRead: answer["Read"]?.bool ?? false)
        }
    }

    /// Decrypts a message for this device. A message that did not fit into its push is fetched first.
    /// - Returns: The message, or what to show if the message has to be fetched and no user is logged in.
    /// - Throws: `PushClientError`; the errors of `decrypt(_:)`.
    public func fetch(_ reference: EncryptedReference) async throws(PushClientError) -> Fetched<DecryptedMessage> {
        try await unlessLoggedOut(reference.message) { () throws(PushClientError) in try await decrypt(reference.push) }
    }

    /// Returns the users who may read a notification that this user sent, and whether they have read it.
    /// - Parameter id: The id that `sendRich` or `sendSecure` returned.
    /// - Throws: `PushClientError`; `notFound` if the notification was sent by another user or has expired.
    public func readers(of id: Int32) async throws(PushClientError) -> [PayloadReader] {
        let path = "/api/notifications/\(id)/readers"
        var answer = try await json(path)
        var readers = Self.readers(in: answer)
        // The server returns one page of readers at a time. If there are more readers, `next` is the last user of the
        // page, after whom the next page begins.
        while let last = answer["next"]?.string, last == readers.last?.user {
            answer = try await json("\(path)?after=\(percentEncoded(last))")
            let more = Self.readers(in: answer)
            guard !more.isEmpty else { break }
            readers += more
        }
        return readers
    }

    private static func readers(in answer: JSON) -> [PayloadReader] {
        (answer["readers"]?.array ?? []).compactMap { reader in
            reader["user"]?.string.map { user in
                let read = reader["read"]?.string.flatMap { Timestamp(iso8601: $0) }
                return PayloadReader(user: user, readAt: read.map { .milliseconds($0.milliseconds) })
            }
        }
    }
}

extension PushClient {
    static let otherKind = PushClientError(.notFound, "This notification is of another kind.")

    private func unlessLoggedOut<Value: Sendable>(
        _ message: String?, _ work: () async throws(PushClientError) -> Value
    ) async throws(PushClientError) -> Fetched<Value> {
        do throws(PushClientError) {
            return .content(try await work())
        } catch {
            guard error.kind == .logInNeeded else { throw error }
            return .logInNeeded(LogInPrompt(message: message))
        }
    }

    private func fetchJSON(_ id: Int32) async throws(PushClientError) -> JSON {
        try await json("/api/notifications/\(id)")
    }

    func json(_ target: String) async throws(PushClientError) -> JSON {
        try await retrying { () throws(RetryableFailure) in
            let answer = try await ask(request("GET", target))
            guard answer.status == 200 else { throw Self.refusal(answer) }
            guard let json = try? JSON(parsing: answer.body) else {
                throw .final(.serverProblem(status: 200), "The server's answer is no JSON.")
            }
            return json
        }
    }

    private static func refusal(_ answer: ClientResponse) -> RetryableFailure {
        guard answer.status == 404 else { return RetryableFailure(answer) }
        return .final(.notFound, "This notification has expired, was read already, or is for somebody else.")
    }

    private func download(
        _ id: Int32, limit: Int, _ progress: Progress?
    ) async throws(PushClientError) -> (contentType: String, PayloadContent) {
        let download = Download(to: .memory(limit: limit), progress: progress)
        let contentType = try await fetch(id, into: download)
        return (contentType, .bytes(download.bytes))
    }

    /// Downloads content to a file. While the file is incomplete, its name differs from `path`, so that it is not
    /// mistaken for the complete file.
    private func download(
        _ id: Int32, to path: String, _ progress: Progress?
    ) async throws(PushClientError) -> (contentType: String, PayloadContent) {
        let partial = "\(path).\(UInt32.random(in: 0...UInt32.max)).part"
        PrivateFile.makeFolder(of: path)
        guard let file = WritableFile(partial, isNew: true) else {
            throw PushClientError(.storageProblem, "The file cannot be written.")
        }
        do throws(PushClientError) {
            let contentType = try await fetch(id, into: Download(to: .file(file), progress: progress))
            guard PrivateFile.move(partial, to: path) else {
                throw PushClientError(.storageProblem, "The file cannot be written.")
            }
            return (contentType, .file(path))
        } catch {
            PrivateFile.remove(partial)
            throw error
        }
    }

    /// Fetches content into a download, with as many requests as it takes.
    /// - Returns: The media type of the content.
    private func fetch(_ id: Int32, into download: Download) async throws(PushClientError) -> String {
        let request = request("GET", "/api/notifications/\(id)").with("accept", "*/*")
        return try await retrying { () throws(RetryableFailure) in
            let answer: ClientResponse
            do throws(RetryableFailure) {
                answer = try await ask(download.asking(request), to: download)
            } catch {
                throw download.failure.map { RetryableFailure(error: $0) } ?? error
            }
            if let failure = download.failure { throw RetryableFailure(error: failure) }
            guard answer.status == 200 || answer.status == 206 else { throw Self.refusal(answer) }
            guard answer.body.isEmpty, download.isComplete else {
                throw RetryableFailure(
                    error: PushClientError(.unreachable, "The connection broke off."), mayPass: true)
            }
            return answer.fields["content-type"] ?? "application/octet-stream"
        }
    }
}
