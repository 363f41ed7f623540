import CMartletZlib
import Glibc
import MartletServer

/// A file or standard input, read in pieces. Data compressed with gzip (RFC 1952) is decompressed.
final class InputFile {
    private let file: gzFile
    private let name: String

    /// - Parameter path: The path of the file, or `-` for standard input.
    /// - Throws: `ServerError` if the file cannot be opened.
    convenience init(_ path: String) throws(ServerError) {
        let name = path == "-" ? "standard input" : path
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw ServerError("Cannot read \(name): \(String(cString: strerror(errno))).") }
        try self.init(descriptor, name: name)
    }

    /// - Parameter descriptor: A descriptor, which is closed together with this object.
    init(_ descriptor: Int32, name: String) throws(ServerError) {
        guard let file = gzdopen(descriptor, "rb") else {
            close(descriptor)
            throw ServerError("There is no memory to read \(name).")
        }
        (self.file, self.name) = (file, name)
    }

    deinit {
        gzclose(file)
    }

    /// Reads the next bytes.
    /// - Returns: The requested number of bytes; fewer only at the end of the file.
    /// - Throws: `ServerError` if the file cannot be read, or is incomplete or damaged.
    func read(_ count: Int) throws(ServerError) -> [UInt8] {
        var code = Z_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = Int(max(0, gzread(file, buffer.baseAddress, UInt32(count))))
            gzerror(file, &code)
        }
        switch code {
        case Z_OK, Z_STREAM_END: return bytes
        case Z_ERRNO: throw ServerError("Cannot read \(name): \(String(cString: strerror(errno))).")
        default: throw ServerError("\(name) is compressed, and damaged or not whole.")
        }
    }
}
