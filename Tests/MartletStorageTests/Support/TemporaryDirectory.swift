import Glibc

/// A directory for one test, removed with everything in it when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        var template = Array("\(Self.root)/martlet-storage-XXXXXX".utf8CString)
        path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } ?? ""
        }
        precondition(!path.isEmpty, "No temporary directory could be made.")
    }

    deinit {
        Self.remove(path)
    }

    private static var root: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    private static func remove(_ path: String) {
        if let directory = opendir(path) {
            while let entry = readdir(directory) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                if name != "." && name != ".." { remove("\(path)/\(name)") }
            }
            closedir(directory)
            rmdir(path)
        } else {
            unlink(path)
        }
    }
}
