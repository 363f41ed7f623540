import Foundation
import MartletClient

/// A temporary file with the body of a request. A file is used, because `URLSession` can stream a body from a file on
/// every system. Other users cannot read the file. The file is removed when the request has ended.
struct UploadFile {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("martlet-\(UUID().uuidString).upload")

    init(_ upload: ClientUpload) throws(ClientTransportError) {
        let isMade = FileManager.default.createFile(
            atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        do {
            guard isMade else { throw CocoaError(.fileWriteUnknown) }
            let file = try FileHandle(forWritingTo: url)
            defer { try? file.close() }
            try upload.forEachPiece { try file.write(contentsOf: Data($0)) }
        } catch {
            remove()
            throw ClientTransportError(
                .unreadable, mayHaveBeenProcessed: false, "The body cannot be read, or not be kept for sending.")
        }
    }

    func remove() {
        try? FileManager.default.removeItem(at: url)
    }
}
