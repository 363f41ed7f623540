import Glibc
import MartletCrypto
import MartletHTTP
import MartletModel
import MartletServer

/// One import or export of a hub. It is a job of the running server and has its own storage container, which is removed
/// at the end.
struct HubTransfer {
    /// The result of a job that has ended, with success or not.
    struct Result {
        let status: String
        let failure: String?
        /// The paths, within the container, of the files that the job wrote.
        let files: [String]
    }

    private static let input = "input.txt"

    /// The size of a block in an upload, in bytes. Uploading in blocks works without knowing the file's length.
    private static let blockBytes = 4 << 20
    private static let poll = Duration.milliseconds(200)
    /// The origin of the container's URL in the job. It is arbitrary, because signatures cover only the path.
    private static let origin = "http://admin"

    private let administration: Administration
    private let hub: String
    private let container: String
    /// The signed path and query of the container's URL.
    private let path: String
    private let query: String

    /// Checks that the hub exists, and makes the container.
    /// - Throws: `ServerError`, for example if no server is running or the hub does not exist.
    init(_ administration: Administration, hub: String) async throws {
        self.administration = administration
        self.hub = hub
        // This request detects a hub that does not exist, before a file is uploaded.
        try Self.check(
            try await administration.receive("/rest/\(segment(hub))/registrations?$top=1") { _ in true }, hub: hub)
        container = "transfer-" + Hex.encode(RandomBytes.generate(8))
        let answer = try await administration.running(.put, "/containers/\(container)")
        guard let (_, rest) = HTTPOrigin.splitting(answer["url"]?.string ?? ""),
            let mark = rest.firstIndex(of: "?")
        else { throw ServerError("The server created no container.") }
        path = String(rest[..<mark])
        query = String(rest[rest.index(after: mark)...])
    }

    /// Removes the container with its files.
    func end() async throws {
        _ = try await administration.running(.delete, "/containers/\(container)")
    }

    /// Uploads the file of an import.
    /// - Parameter read: Returns the next bytes, up to the given number; empty at the end.
    func upload(_ read: (Int) throws -> [UInt8]) async throws {
        var list = "<?xml version=\"1.0\" encoding=\"utf-8\"?><BlockList>"
        var number = 0
        while true {
            let bytes = try read(Self.blockBytes)
            guard !bytes.isEmpty else { break }
            let id = Base64.encode(Array("block-\(1_000_000 + number)".utf8))
            try await put("comp=block&blockid=\(segment(id))", bytes)
            list += "<Latest>\(id)</Latest>"
            number += 1
        }
        guard number > 0 else { return try await put(nil, []) }
        try await put("comp=blocklist", Array("\(list)</BlockList>".utf8))
    }

    private func put(_ operation: String?, _ bytes: [UInt8]) async throws {
        let target = "\(path)/\(Self.input)?\(operation.map { "\($0)&" } ?? "")\(query)"
        let fields: HTTPFields = ["x-ms-blob-type": "BlockBlob"]
        try Self.check(try await administration.rest(.put, target, fields: fields, body: bytes))
    }

    /// Runs the job to its end.
    /// - Parameters:
    ///   - type: The type of the job, such as `ExportRegistrations`.
    ///   - progress: Called repeatedly with the percentage of the job that is done.
    func run(_ type: String, progress: (Double) -> Void) async throws -> Result {
        let source = type == "ExportRegistrations" ? "" : element("ImportFileUri", "\(path)/\(Self.input)?\(query)")
        let document =
            "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\"><NotificationHubJob "
            + "xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\"><Type>\(type)</Type>"
            + element("OutputContainerUri", "\(path)?\(query)") + source + "</NotificationHubJob></content></entry>"
        var entry = try await call(.post, "/\(segment(hub))/jobs", body: Array(document.utf8))
        guard let id = NotificationDetails.text(of: "JobId", in: entry) else {
            throw ServerError("The server named no job.")
        }
        while true {
            if let status = NotificationDetails.text(of: "Status", in: entry),
                ["Completed", "Failed"].contains(status)
            {
                return Result(
                    status: status, failure: NotificationDetails.text(of: "Failure", in: entry),
                    files: NotificationDetails.texts(of: "d3p1:Value", in: entry))
            }
            progress(NotificationDetails.text(of: "Progress", in: entry).flatMap { Double($0) } ?? 0)
            // The job is polled, because a server does not report that a job has ended.
            try await Task.sleep(for: Self.poll)
            entry = try await call(.get, "/\(segment(hub))/jobs/\(segment(id))", body: [])
        }
    }

    private func element(_ name: String, _ target: String) -> String {
        let text = "\(Self.origin)\(target)".split(separator: "&", omittingEmptySubsequences: false)
            .joined(separator: "&amp;")
        return "<\(name)>\(text)</\(name)>"
    }

    private func call(_ method: HTTPMethod, _ target: String, body: [UInt8]) async throws -> String {
        let response = try await administration.rest(method, target, fields: [:], body: body)
        try Self.check(response, hub: hub)
        return String(decoding: response.bytes, as: UTF8.self)
    }

    /// Downloads a file that the job wrote. Does nothing if the job wrote no such file.
    /// - Parameters:
    ///   - name: `Output.txt` or `Failed.txt`.
    ///   - take: Receives the bytes in pieces, in order; returning false ends the transfer.
    func download(_ name: String, of result: Result, take: @escaping @Sendable ([UInt8]) -> Bool) async throws {
        guard let blob = result.files.first(where: { $0.hasSuffix("/\(name)") }) else { return }
        let target = "\(path)/\(blob.split(separator: "/").map { segment(String($0)) }.joined(separator: "/"))?\(query)"
        try Self.check(try await administration.receive("/rest\(target)", take: take))
    }

    private static func check(_ response: HTTPResponse, hub: String? = nil) throws {
        guard !response.status.isSuccess else { return }
        let text = String(decoding: response.bytes, as: UTF8.self)
        if response.status == .notFound, let hub, text.contains("No service is hosted") {
            throw ServerError("There is no hub named '\(hub)'.")
        }
        let detail = NotificationDetails.text(of: "Detail", in: text).map(NotificationDetails.withoutTracking)
        throw ServerError("The server answered \(response.status.code): \(detail ?? text)")
    }
}
