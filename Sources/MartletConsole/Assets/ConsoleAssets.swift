import CMartletConsoleWeb
import Glibc

/// The files of the console's pages.
///
/// The program contains these files. For work on the pages, the server can read them from a directory instead.
struct ConsoleAssets: Sendable {
    private let embedded: [String: ConsoleAsset]
    private let directory: String?

    /// The maximum size of a file that is read from the directory, in bytes.
    private static let sizeLimit = 1 << 20

    /// Uses the files of a directory, or the embedded files.
    /// - Parameter directory: The directory to read the files from at each request; nil for the embedded files.
    init(directory: String?) {
        self.directory = directory
        embedded = directory == nil ? Self.embeddedFiles() : [:]
    }

    /// Returns the asset at a path below `/console/`; nil if there is none.
    /// - Parameter segments: The decoded segments of the path, none of which is `.` or `..` or contains a slash.
    func asset(at segments: ArraySlice<String>) -> ConsoleAsset? {
        let path = segments.joined(separator: "/")
        guard let directory else { return embedded[path] }
        guard !segments.isEmpty, segments.allSatisfy({ !$0.hasPrefix(".") && !$0.isEmpty }),
            let bytes = Self.read("\(directory)/\(path)")
        else { return nil }
        return ConsoleAsset(path: path, bytes: bytes)
    }

    /// The page `index.html`, which shows every screen of the console.
    var page: ConsoleAsset? { asset(at: ["index.html"]) }

    private static func embeddedFiles() -> [String: ConsoleAsset] {
        var files: [String: ConsoleAsset] = [:]
        for index in 0..<martlet_console_file_count() {
            let file = martlet_console_file_at(index)
            let path = String(cString: file.path)
            let bytes = Array(UnsafeBufferPointer(start: file.bytes, count: file.size))
            files[path] = ConsoleAsset(path: path, bytes: bytes)
        }
        return files
    }

    private static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= sizeLimit else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = Glibc.read(file, &bytes, bytes.count)
        return count == bytes.count ? bytes : nil
    }
}
