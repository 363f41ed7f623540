import MartletHTTP

/// Writes the requests of a batch, as `HTTP1RequestEncoder` writes single requests. The bytes that all requests share
/// are prepared once.
struct HTTP1BatchEncoder {
    private let isWritable: Bool
    /// The method and the common prefix of the paths.
    private let start: [UInt8]
    /// The bytes after the path: the HTTP version, the `host` field, and the fields that all requests share.
    private let fields: [UInt8]
    /// For each name in `Shared.itemFieldNames`, the name, colon and space with which the line of the field begins;
    /// empty for a field that is not sent.
    private let names: [[UInt8]]
    /// The end of the head, and the body that all requests share; nil if each item has its own body.
    private let end: [UInt8]?
    private let statesEmptyBody: Bool

    init(_ shared: RequestBatch.Shared) {
        isWritable = shared.isWritable
        start = Array("\(shared.method.rawValue) \(shared.pathPrefix)".utf8)
        var fields = " HTTP/1.1\r\nhost: \(shared.origin.authority)\r\n"
        for field in shared.fields where !HTTP1RequestEncoder.own.contains(field.name) {
            fields += "\(field.name): \(field.value)\r\n"
        }
        self.fields = Array(fields.utf8)
        names = shared.itemFieldNames.map { HTTP1RequestEncoder.own.contains($0) ? [] : Array("\($0): ".utf8) }
        statesEmptyBody = HTTP1RequestEncoder.statesEmptyBody(shared.method)
        end = shared.body.map { [statesEmptyBody] body in Self.end(body.count, statesEmptyBody) + body }
    }

    private static func end(_ bodyCount: Int, _ statesEmptyBody: Bool) -> [UInt8] {
        Array((bodyCount > 0 || statesEmptyBody ? "content-length: \(bodyCount)\r\n\r\n" : "\r\n").utf8)
    }

    /// Appends the request of an item.
    /// - Returns: False if the request has invalid characters. Then nothing is appended.
    func append(_ item: Int, of batch: RequestBatch, to output: inout [UInt8]) -> Bool {
        guard isWritable, batch.isWritable(item) else { return false }
        let isTargetEmpty = batch.shared.pathPrefix.isEmpty && batch.withPath(item, \.isEmpty)
        guard !isTargetEmpty else { return false }
        output.append(contentsOf: start)
        batch.withPath(item) { output.append(contentsOf: $0) }
        output.append(contentsOf: fields)
        for index in names.indices where !names[index].isEmpty {
            output.append(contentsOf: names[index])
            batch.withValue(index, of: item) { output.append(contentsOf: $0) }
            output.append(contentsOf: "\r\n".utf8)
        }
        if let end {
            output.append(contentsOf: end)
        } else {
            batch.withBody(item) { body in
                output.append(contentsOf: Self.end(body.count, statesEmptyBody))
                output.append(contentsOf: body)
            }
        }
        return true
    }
}
