import Glibc
import MartletServer

/// A file, or standard input, that is read in pieces.
final class InputFile {
    private let descriptor: Int32
    private let path: String

    /// - Parameter path: `-` for standard input.
    /// - Throws: `ServerError` where it cannot be opened.
    init(_ path: String) throws(ServerError) {
        self.path = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure }
    }

    deinit {
        if descriptor > STDIN_FILENO { close(descriptor) }
    }

    /// - Returns: As many bytes, fewer at the end of the file alone.
    func read(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let more = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + filled, count - filled) }
            if more < 0, errno == EINTR { continue }
            guard more >= 0 else { throw failure }
            if more == 0 { break }
            filled += more
        }
        return Array(bytes.prefix(filled))
    }

    private var failure: ServerError { ServerError("Cannot read \(path): \(String(cString: strerror(errno))).") }
}
