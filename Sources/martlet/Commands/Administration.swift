import Glibc
import MartletHTTP
import MartletModel
import MartletNetwork
import MartletServer

/// Asks for administration: the server that runs on the data directory, or, where none does, its handler in this
/// process.
struct Administration {
    private static let timeout: Duration = .seconds(30)

    private let dataDirectory: String

    /// - Parameter makesDirectory: Whether a data directory that is missing is made: a mistyped one is no new server.
    init(_ invocation: Invocation, makesDirectory: Bool = false) throws(ServerError) {
        dataDirectory = invocation["data"] ?? "data"
        guard makesDirectory || access(dataDirectory, F_OK) == 0 else {
            throw ServerError(
                "There is no data directory '\(dataDirectory)': --data names the one that the server has.")
        }
    }

    /// - Returns: What was answered; `.null` where that is nothing.
    /// - Throws: `ServerError` with the answer's sentence where it is a refusal.
    func call(_ method: HTTPMethod, _ path: String, body: JSON? = nil) async throws -> JSON {
        let request = HTTPRequest(method, path, authority: "admin", body: body?.bytes ?? [])
        let response = try await respond(to: request)
        let answer = response.bytes.isEmpty ? JSON.null : try JSON(parsing: response.bytes)
        guard response.status.isSuccess else {
            throw ServerError(answer["error"]?.string ?? "The server answered \(response.status.code).")
        }
        return answer
    }

    private func respond(to request: HTTPRequest) async throws -> HTTPResponse {
        let loops = try EventLoopGroup(count: 1)
        let socket = try AdminSocket.path(in: dataDirectory)
        do throws(TransportError) {
            let client = HTTPClient(loops: loops)
            let response = try await client.send(request, toUnixPath: socket, before: .now + Self.timeout)
            await client.shutDown()
            return response
        } catch {
            guard error.kind == .unreachable else { throw ServerError("The server did not answer: \(error.detail)") }
        }
        let offline = try await OfflineAdministration(dataDirectory: dataDirectory)
        let response = await offline.handler.respond(to: request)
        await offline.close()
        return response
    }
}

/// A word of the command line as one segment of a path.
func segment(_ word: String) -> String { PercentEncoding.encode(word) }
