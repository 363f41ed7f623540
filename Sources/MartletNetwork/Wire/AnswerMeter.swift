/// Limits what a peer may send in answer to one request: the number of informational answers, of body bytes, and of
/// pieces (chunks or DATA frames). Pieces are limited because each one costs more than its bytes.
struct AnswerMeter {
    /// The maximum number of informational answers (1xx) before the answer.
    private static let informationalLimit = 16
    /// The number of pieces that any body may have.
    ///
    /// A body may have one more piece for each `bytesPerPiece` bytes.
    private static let freePieces = 1_024
    private static let bytesPerPiece = 64

    private var informational = 0
    private var bytes = 0
    private var pieces = 0

    /// Counts an informational answer.
    /// - Returns: The reason to refuse the answer if there were too many; nil otherwise.
    mutating func countInformational() -> String? {
        informational += 1
        guard informational > Self.informationalLimit else { return nil }
        return "the peer sent more than \(Self.informationalLimit) informational answers to one request"
    }

    /// Counts bytes of the body.
    /// - Parameters:
    ///   - count: The number of bytes.
    ///   - pieces: The number of chunks or frames in which the bytes arrived.
    ///   - limit: The maximum size of the body, in bytes; nil if the body is passed on as it arrives, without a limit
    ///     on its size and its number of pieces.
    /// - Returns: The reason to refuse the answer if the body is too large or has too many pieces; nil otherwise.
    mutating func count(_ count: Int, pieces: Int, limit: Int?) -> String? {
        bytes += count
        self.pieces += pieces
        guard let limit else { return nil }
        guard bytes <= limit else { return "the answer is longer than \(limit) bytes" }
        guard self.pieces > Self.freePieces + bytes / Self.bytesPerPiece else { return nil }
        return "the peer cut its answer into more than \(self.pieces - 1) pieces of a few bytes"
    }
}
