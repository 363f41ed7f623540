/// A form with one file, encoded as `multipart/form-data` (RFC 7578).
struct MultipartForm {
    private let boundary: String
    private var head: [UInt8] = []

    /// Creates an empty form. The boundary is random, so that the content does not contain it by chance.
    init() {
        let digits = Array("0123456789abcdef".utf8)
        boundary = "martlet-" + String(decoding: (0..<32).map { _ in digits.randomElement()! }, as: UTF8.self)
    }

    /// The value of the request's `content-type` field.
    var contentType: String { "multipart/form-data; boundary=\(boundary)" }

    mutating func add(_ name: String, _ value: String) {
        append("--\(boundary)\r\ncontent-disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n")
    }

    /// Returns the whole form, with a file after its fields.
    /// - Parameter file: The file. Its name in the sender's file system is not sent.
    func upload(_ name: String, contentType: String, _ file: ClientUpload) -> ClientUpload {
        var form = self
        form.append(
            "--\(boundary)\r\ncontent-disposition: form-data; name=\"\(name)\"; filename=\"\(name)\"\r\n"
                + "content-type: \(contentType)\r\n\r\n")
        return ClientUpload(form.head).followed(by: file).followed(by: ClientUpload("\r\n--\(boundary)--\r\n".utf8))
    }

    private mutating func append(_ text: String) {
        head += text.utf8
    }
}

extension ClientUpload {
    init(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        self.init(length: Int64(bytes.count)) { offset, count in Array(bytes[Int(offset)..<(Int(offset) + count)]) }
    }

    init(_ file: ReadableFile) {
        self.init(length: file.length) { offset, count in try file.read(at: offset, count: count) }
    }

    /// Returns the concatenation of two bodies.
    func followed(by next: ClientUpload) -> ClientUpload {
        ClientUpload(length: length + next.length) { [self] offset, count in
            let own = Int(max(0, min(Int64(count), length - offset)))
            var bytes = own > 0 ? try read(offset, own) : []
            if own < count { bytes += try next.read(offset + Int64(own) - length, count - own) }
            return bytes
        }
    }
}
