/// The download of a notification's content to memory or to a file, over as many requests as it takes.
///
/// `@unchecked Sendable`: during a request, the transport calls the functions of `ResponseSink` one at a time, and none
/// after the request has returned or thrown. Between two requests, only the downloading task accesses the object.
final class Download: ResponseSink, @unchecked Sendable {
    /// Called with the number of bytes received so far and the total number; the total is nil if it is not known.
    typealias Progress = @Sendable (_ received: Int64, _ total: Int64?) -> Void

    enum Destination {
        /// The content is collected in memory, up to a maximum size in bytes.
        case memory(limit: Int)
        case file(WritableFile)
    }

    private let destination: Destination
    private let progress: Progress?
    /// The bytes that were received into memory.
    private(set) var bytes: [UInt8] = []
    private var received: Int64 = 0
    private var total: Int64?
    /// The entity tag of the version of the content that the received bytes belong to. If the tag is nil, the next
    /// request cannot ask for only the missing bytes. It asks for the whole content.
    private var version: String?
    /// The reason why the download was aborted; nil if it was not aborted.
    private(set) var failure: PushClientError?

    init(to destination: Destination, progress: Progress? = nil) {
        self.destination = destination
        self.progress = progress
    }

    /// Whether all bytes have been received; true if the total number is not known.
    var isComplete: Bool { total == nil || total == received }

    /// Returns a request with header fields that ask for the missing bytes (RFC 9110, section 14.2), or for the whole
    /// content if the content has changed.
    func asking(_ request: ClientRequest) -> ClientRequest {
        let request = request.with("accept-encoding", "identity")
        guard received > 0, let version else { return request }
        return request.with("range", "bytes=\(received)-").with("if-range", version)
    }

    func begin(_ head: ClientResponse) -> Bool {
        switch head.status {
        case 200:
            restart()
            total = head.fields["content-length"].flatMap { Int64($0) }
            version = head.fields["etag"].flatMap { $0.hasPrefix("W/") ? nil : $0 }
        case 206:
            guard head.fields["content-range"]?.hasPrefix("bytes \(received)-") == true else {
                // The answer is not the requested range, so the next attempt requests the whole content.
                restart()
                return false
            }
        default: return false
        }
        if case .memory(let limit) = destination, let total, total > limit { return true == fail(Self.tooLong) }
        return failure == nil
    }

    func receive(_ piece: UnsafeRawBufferPointer) -> Bool {
        guard failure == nil else { return false }
        switch destination {
        case .memory(let limit):
            guard bytes.count + piece.count <= limit else { return fail(Self.tooLong) }
            bytes.append(contentsOf: piece)
        case .file(let file):
            guard file.append(piece) else { return fail(Self.diskProblem) }
        }
        received += Int64(piece.count)
        progress?(received, total)
        return true
    }

    private func restart() {
        received = 0
        version = nil
        bytes = []
        if case .file(let file) = destination, !file.truncate() { _ = fail(Self.diskProblem) }
    }

    private func fail(_ error: PushClientError) -> Bool {
        failure = error
        return false
    }

    private static let tooLong = PushClientError(
        .contentTooLong, "The content is too large for memory; fetch it into a file.")
    private static let diskProblem = PushClientError(
        .storageProblem, "The file cannot be written, or the disk is full.")
}
