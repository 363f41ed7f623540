import MartletHTTP

@testable import MartletNetwork

/// Reads a streamed body when the test says so.
final class BodyDrain {
    private let body: RequestBody
    private(set) var bytes: [UInt8] = []
    private(set) var isAtEnd = false
    private(set) var error: HTTPBodyError?
    private(set) var isWaiting = false

    init(_ body: RequestBody) {
        self.body = body
    }

    /// Asks for the next piece, which may come later.
    func read() {
        isWaiting = true
        body.read { piece in
            self.isWaiting = false
            switch piece {
            case .success(let bytes?): self.bytes += bytes
            case .success(nil): self.isAtEnd = true
            case .failure(let error): self.error = error
            }
        }
    }

    /// Reads until it must wait, or there is nothing more.
    func readOn() {
        while !isWaiting, !isAtEnd, error == nil { read() }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}
