import Foundation

/// A directory for one test, removed with everything in it when the test lets go of it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-storage-\(UUID())").path
        mkdir(path, 0o700)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Copies a file of another directory, as a crash would leave it.
    func copy(_ name: String, from other: TemporaryDirectory) throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(other.path)/\(name)"))
        try bytes.write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }
}
