import Glibc
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// Administers the server of a data directory. Requests are sent to the running server. If no server runs, the server's
/// handler answers them in this process.
struct Administration {
    private static let timeout: Duration = .seconds(30)
    private static let shortTimeout: Duration = .seconds(2)
    /// The time limit for downloads. It is long because a large database is copied before the first byte of its backup
    /// is sent.
    private static let patience: Duration = .seconds(3600)

    /// How long a command waits for a server that is starting.
    private static let startPatience: Duration = .seconds(5)

    /// How long `probe` waits for an answer. A service manager can use `martlet health`, so the wait must be short.
    private static let probeTimeout: Duration = .seconds(5)

    /// Detects a server that answers no requests, so that the command can stop waiting.
    var watch = ServerWatch()
    private let dataDirectory: String
    /// The admin socket that was named on the command line; nil for the socket in the data directory.
    private let givenSocket: String?
    /// The server's address for printed output. It is used if no server runs, because a running server knows its own
    /// address.
    private let publicURL: HTTPOrigin?
    private let printsAdvice: Bool

    /// Creates an instance for a data directory on which no server runs.
    init(offline directory: String) {
        // The address is only a placeholder, because no address is printed.
        (dataDirectory, givenSocket, publicURL) = (directory, nil, HTTPOrigin(scheme: .https, host: "localhost"))
        printsAdvice = false
    }

    /// Creates an instance for the server that runs on a data directory.
    /// - Parameter socket: The admin socket that was named on the command line; nil for the socket in the directory.
    init(running directory: String, socket: String?) {
        (dataDirectory, givenSocket, publicURL, printsAdvice) = (directory, socket, nil, false)
    }

    /// - Parameters:
    ///   - makesDirectory: Whether a missing data directory is made. By default a missing directory is an error,
    ///     because its path may be mistyped.
    ///   - printsAdvice: Whether the server's advice about its address is printed on standard error.
    init(_ invocation: Invocation, makesDirectory: Bool = false, printsAdvice: Bool = true) throws {
        self.printsAdvice = printsAdvice
        dataDirectory = invocation["data"] ?? "data"
        givenSocket = invocation["admin-socket"]
        publicURL = try invocation.publicURL()
        guard makesDirectory || access(dataDirectory, F_OK) == 0 || errno == EACCES else {
            let isHidden = access(Invocation.systemFile, F_OK) == 0 && access(Invocation.systemFile, R_OK) != 0
            throw ServerError(
                "There is no data directory '\(dataDirectory)': --data names the one that the server has."
                    + (isHidden
                        ? " \(Invocation.systemFile) cannot be read: use sudo for the server of this machine." : "")
            )
        }
    }

    /// Sends a request to the running server, or answers it in this process if no server runs.
    /// - Returns: The answer; `.null` if the answer is empty.
    /// - Throws: `ServerError` with the sentence from the answer if the request is refused.
    func call(_ method: HTTPMethod, _ path: String, body: JSON? = nil) async throws -> JSON {
        let request = HTTPRequest(method, path, authority: "admin", body: body?.bytes ?? [])
        let response = try await respond(to: request)
        return try check(response)
    }

    @discardableResult
    private func check(_ response: HTTPResponse) throws -> JSON {
        let answer = try AdministrationAnswer.document(of: response)
        if printsAdvice, let advice = response.fields["martlet-advice"] { Terminal.complain("martlet: \(advice)") }
        return answer
    }

    /// Sends a request to the hubs' REST API of the running server, as its administrator.
    /// - Throws: `ServerError` if no server runs, because only a running server delivers notifications.
    func rest(
        _ method: HTTPMethod, _ target: String, fields: HTTPFields, body: [UInt8]
    ) async throws -> HTTPResponse {
        let request = HTTPRequest(method, "/rest" + target, authority: "admin", fields: fields, body: body)
        guard let response = try await ask(request) else {
            throw ServerError(
                "No server runs on the data directory '\(dataDirectory)': start one, or give "
                    + "--connection-string-file with that of another.")
        }
        return response
    }

    /// Downloads, from the running server, an answer that is too large for memory.
    /// - Parameter take: Receives the body of a successful answer in pieces, in order. Returning false ends the
    ///   transfer.
    func receive(_ path: String, take: @escaping @Sendable ([UInt8]) -> Bool) async throws -> HTTPResponse {
        let response = try await receiveRunning(HTTPRequest(.get, path, authority: "admin"), take: take)
        guard let response else { throw notRunning }
        return response
    }

    /// Sends a request to the running server, and receives its answer piece by piece.
    /// - Returns: nil if no server runs.
    func receiveRunning(
        _ request: HTTPRequest, take: @escaping @Sendable ([UInt8]) -> Bool
    ) async throws -> HTTPResponse? {
        try await online { client, socket throws(TransportError) in
            let sink = HTTPClient.Sink(begin: { $0.status.isSuccess }, receive: { take(Array($0)) })
            return try await client.transfer(request, toUnixPath: socket, patience: Self.patience, sink: sink)
        }
    }

    /// Sends a request to the running server.
    /// - Returns: nil if no server runs.
    func respondRunning(_ method: HTTPMethod, _ path: String, body: [UInt8] = []) async throws -> HTTPResponse? {
        try await ask(HTTPRequest(method, path, authority: "admin", body: body))
    }

    /// Sends a request to the running server, with a short timeout.
    /// - Returns: nil if no server runs.
    func callRunning(_ method: HTTPMethod, _ path: String) async throws -> JSON? {
        let request = HTTPRequest(method, path, authority: "admin")
        let response = try await online(within: Self.shortTimeout) { client, socket throws(TransportError) in
            try await client.send(request, toUnixPath: socket, before: .now + Self.shortTimeout)
        }
        return try response.map(check)
    }

    /// Downloads an answer that is too large for memory, from the running server or, if no server runs, from the
    /// handler in this process.
    /// - Parameter file: Receives the answer, unless the answer is a refusal.
    func download(_ path: String, to file: NewFile) async throws {
        let request = HTTPRequest(.get, path, authority: "admin")
        let response = try await online { client, socket throws(TransportError) in
            let sink = HTTPClient.Sink(begin: { $0.status.isSuccess }, receive: { file.take(Array($0)) })
            return try await client.transfer(request, toUnixPath: socket, patience: Self.patience, sink: sink)
        }
        if let response {
            try file.check()
            try check(response)
            return
        }
        // Only the data directory is read with the rights of its owner. The file for the download was opened before,
        // and is completed afterwards, with the rights of the user who runs the command.
        let owner = try AssumedOwner(of: dataDirectory)
        defer { owner?.end() }
        let offline = try await open()
        do {
            let response = await offline.handler.respond(to: request)
            try check(response)
            if case .stream(_, let write) = response.body { try await write(file) }
        } catch {
            await offline.close()
            throw error
        }
        await offline.close()
    }

    /// Sends a request that only the running server can answer.
    /// - Throws: `ServerError` if no server runs, or if the server refuses the request.
    func running(_ method: HTTPMethod, _ path: String) async throws -> JSON {
        guard let response = try await ask(HTTPRequest(method, path, authority: "admin")) else { throw notRunning }
        return try check(response)
    }

    private var notRunning: ServerError { ServerError("No server runs on the data directory '\(dataDirectory)'.") }

    /// Asks the running server whether it is ready for work, with a short timeout.
    /// - Returns: A note about what does not work although the server is ready; nil if everything works.
    func probe() async throws -> String? {
        let request = HTTPRequest(.get, "/ready", authority: "admin")
        let response = try await online(within: Self.probeTimeout) { client, socket throws(TransportError) in
            try await client.send(request, toUnixPath: socket, before: .now + Self.probeTimeout)
        }
        guard let response else { throw notRunning }
        return try check(response)["note"]?.string
    }

    /// Returns a text that is not JSON, and that only the running server can provide.
    func text(_ path: String) async throws -> String {
        guard let response = try await ask(HTTPRequest(.get, path, authority: "admin")) else {
            throw notRunning
        }
        guard response.status.isSuccess else { throw ServerError("The server answered \(response.status.code).") }
        return String(decoding: response.bytes, as: UTF8.self)
    }

    /// Gets the answer to a request from the running server or, if no server runs, from the handler in this process. If
    /// another process has locked the data directory, such as a server that is starting, waits for that process.
    private func respond(to request: HTTPRequest) async throws -> HTTPResponse {
        let end = ContinuousClock.now + Self.startPatience
        while true {
            if let answer = try await ask(request) { return answer }
            do {
                return try await respondHere(to: request)
            } catch let error as ServerError where error.isOfTakenDirectory {
                guard .now < end else {
                    throw ServerError(
                        "Another process has the data directory '\(dataDirectory)': a server that is still starting, or "
                            + "another command. Try again.")
                }
            }
            // Nothing announces the server's socket or the release of the directory's lock, so both are tried again.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func respondHere(to request: HTTPRequest) async throws -> HTTPResponse {
        let owner = try AssumedOwner(of: dataDirectory)
        defer { owner?.end() }
        let offline = try await open()
        let response = await offline.handler.respond(to: request)
        await offline.close()
        return response
    }

    /// The error that states why this user may not administer the data directory.
    private var refusal: ServerError {
        DirectoryOwner(of: dataDirectory)?.refusalToAdminister(dataDirectory, hasGroupSocket: givenSocket != nil)
            ?? ServerError("This user may not administer \(dataDirectory): use sudo.")
    }

    /// Opens the data directory in this process, for use if no server runs.
    private func open() async throws -> OfflineAdministration {
        if let owner = DirectoryOwner(of: dataDirectory), geteuid() != 0, owner.user != geteuid() { throw refusal }
        let isNew = access(dataDirectory, F_OK) != 0
        let offline = try await OfflineAdministration(
            dataDirectory: dataDirectory, publicURL: publicURL, version: Version.current, build: Version.build)
        if isNew {
            Terminal.complain(
                "martlet: Made the data directory '\(dataDirectory)' of a new server. --data names that of another one."
            )
        }
        if isNew, let advice = DirectoryOwner(of: dataDirectory)?.advice(onNew: dataDirectory) {
            Terminal.complain("martlet: \(advice)")
        }
        return offline
    }

    /// Sends a request to the running server.
    /// - Returns: nil if no server runs.
    private func ask(_ request: HTTPRequest) async throws -> HTTPResponse? {
        try await online { client, socket throws(TransportError) in
            try await client.send(request, toUnixPath: socket, before: .now + Self.timeout)
        }
    }

    /// Runs `work` with the admin socket of the running server.
    /// - Parameter limit: The timeout that `work` itself uses.
    /// - Returns: nil if no server runs.
    /// - Throws: `ServerError`, for example if this user may not know whether a server runs.
    private func online(
        within limit: Duration = Self.timeout,
        _ work: @escaping @Sendable (HTTPClient, String) async throws(TransportError) -> HTTPResponse
    ) async throws -> HTTPResponse? {
        let socket = try AdminSocket(in: dataDirectory, given: givenSocket).path
        guard access(socket, W_OK) == 0 || errno != EACCES else { throw refusal }
        let client = HTTPClient(loops: try EventLoopGroup(count: 1))
        let result = await watch.during(
            {
                do throws(TransportError) {
                    return .success(try await work(client, socket))
                } catch {
                    return .failure(error)
                }
            }, at: socket)
        guard let result else { throw ServerWatch.failure(dataDirectory, after: watch.patience + watch.limit) }
        do throws(TransportError) {
            let response = try result.get()
            await client.shutDown()
            return response
        } catch {
            if error.kind == .unreachable { return nil }
            if error.kind == .timedOut {
                throw limit > watch.patience
                    ? ServerError(
                        "The server runs, and has not answered within \(limit.components.seconds) seconds: it may still "
                            + "carry out the request. Check the result before you repeat the command.")
                    : ServerWatch.failure(dataDirectory, after: limit)
            }
            throw ServerError("The server did not answer, or its answer broke off: \(error.detail)")
        }
    }
}

/// Encodes a word of the command line as one segment of a path.
func segment(_ word: String) -> String { PercentEncoding.encode(word) }
