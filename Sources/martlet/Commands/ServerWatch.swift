import MartletHTTP
import MartletNetwork
import MartletServer

/// A watch that distinguishes a server that is working on an answer from a server that answers no requests because its
/// process is stopped. A command waits as long as necessary for the working server, and gives up on the stopped server.
struct ServerWatch: Sendable {
    /// How long a command waits before it checks whether the server answers at all.
    var patience: Duration = .seconds(8)
    /// How long the server has to answer the check.
    var limit: Duration = .seconds(2)

    /// Runs work that waits for a server.
    /// - Returns: nil if the server answers no requests, in which case the work was cancelled.
    func during(
        _ work: @escaping @Sendable () async -> Result<HTTPResponse, TransportError>, at socket: String
    ) async -> Result<HTTPResponse, TransportError>? {
        await withTaskGroup(of: Result<HTTPResponse, TransportError>?.self) { group in
            group.addTask { await work() }
            group.addTask {
                await waitForSilence(at: socket)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }

    /// Returns once the server answers no requests, or once this task is cancelled.
    private func waitForSilence(at socket: String) async {
        while true {
            guard (try? await Task.sleep(for: patience)) != nil, await answers(at: socket) else { return }
        }
    }

    /// Returns whether the server answers, even with an error such as "not found". Also returns true if the server has
    /// ended, because the work that waits for the server then ends by itself.
    private func answers(at socket: String) async -> Bool {
        guard let loops = try? EventLoopGroup(count: 1) else { return true }
        let client = HTTPClient(loops: loops)
        let request = HTTPRequest(.get, "/alive", authority: "admin")
        do throws(TransportError) {
            _ = try await client.send(request, toUnixPath: socket, before: .now + limit)
            await client.shutDown()
            return true
        } catch {
            await client.shutDown()
            return error.kind != .timedOut
        }
    }

    /// Returns the error for a server that answers no requests.
    /// - Parameter time: How long the command has waited.
    static func failure(_ directory: String, after time: Duration) -> ServerError {
        ServerError(
            "The server that runs on the data directory '\(directory)' has answered nothing for \(time.components.seconds) "
                + "seconds: it is stopped (SIGSTOP, a debugger), or the machine cannot keep up. Look with 'systemctl status "
                + "martlet' or 'ps'; continue or restart it, then repeat the command. A change may have been made.")
    }
}
