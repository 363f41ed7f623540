import MartletHTTP

/// Assembles one request from its fields and the pieces of its body, within limits.
struct HTTP2RequestCollector {
    /// The reason why the server refuses a request without calling its handler.
    enum Refusal: Equatable {
        case fieldsTooLarge
        case targetTooLong
        case bodyTooLarge
        case notSupported
        /// There was no memory for the request's body.
        case overloaded
        /// A field has characters that HTTP does not allow. The request is refused, because ignoring the field would
        /// change the meaning of the request.
        case malformed

        var status: HTTPStatus {
            switch self {
            case .fieldsTooLarge: .headerFieldsTooLarge
            case .targetTooLong: HTTPStatus(414)
            case .bodyTooLarge: .contentTooLarge
            case .notSupported: HTTPStatus(501)
            case .overloaded: .serviceUnavailable
            case .malformed: .badRequest
            }
        }
    }

    private let limits: ServerLimits
    private var method = ""
    private var target = ""
    private var authority = ""
    private var host: String?
    /// True if the head has two hosts or two credentials.
    ///
    /// Such a request is refused, because other software on the path may use the host or the credential that this
    /// server ignores.
    private var isAmbiguous = false
    private var fields: [HTTPField] = []
    /// For each field of the block, its index in `fields`; nil for a field that was not kept, such as a pseudo-field.
    private var indices: [Int?] = []
    private var targetIndex: Int?
    private var targetIndexing = HTTPField.Indexing.never
    private(set) var fieldBytes = 0
    private var bodyLimit = 0
    private var body: [UInt8] = []
    private var isHeadFinished = false
    private var isTooLarge = false
    private var isTargetTooLong = false
    private var isMalformed = false

    init(limits: ServerLimits) {
        self.limits = limits
    }

    /// Returns a collector for a request that the handler already has or that was refused.
    ///
    /// The collector counts trailers but does not keep them.
    static func spent(limits: ServerLimits) -> HTTP2RequestCollector {
        var collector = HTTP2RequestCollector(limits: limits)
        collector.isHeadFinished = true
        return collector
    }

    // MARK: Fields

    /// Appends a field to the head or the trailers.
    /// - Returns: False if the field block is so large that the stream must be reset.
    mutating func append(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>, isValid: Bool
    ) -> Bool {
        // The size of a field is 32 bytes more than the lengths of its name and value (RFC 9113, section 6.5.2).
        fieldBytes += name.count + value.count + 32
        if !isHeadFinished { indices.append(nil) }
        if isPath(name), value.count > limits.targetBytes { isTargetTooLong = true }
        if fieldBytes > limits.fieldBytes || indices.count > limits.fieldCount { isTooLarge = true }
        if !isValid, !isHeadFinished { isMalformed = true }
        guard !isHeadFinished, !isTooLarge, !isTargetTooLong, !isMalformed else {
            return fieldBytes <= 8 * limits.fieldBytes
        }
        keep(String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        return true
    }

    private func isPath(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        name.elementsEqual(":path".utf8)
    }

    private mutating func keep(_ name: String, _ value: String) {
        switch name {
        case ":method": method = value
        case ":path":
            target = value
            targetIndex = indices.count - 1
        case ":authority": authority = value
        case "host":
            if host != nil { isAmbiguous = true }
            host = value
        case _ where name.hasPrefix(":") || name == "te": break
        default:
            if name == "authorization", fields.contains(where: { $0.name == name }) { isAmbiguous = true }
            indices[indices.count - 1] = fields.count
            fields.append(HTTPField(name, value))
        }
    }

    /// Completes the head. Later fields are trailers, which are counted but not kept.
    /// - Parameter indexing: The indexing of every field of the block, in order.
    /// - Returns: The reason to refuse the request; nil if the head is accepted.
    mutating func finishHead(indexing: [HTTPField.Indexing]) -> Refusal? {
        isHeadFinished = true
        if isTargetTooLong { return .targetTooLong }
        if isTooLarge { return .fieldsTooLarge }
        if isMalformed || isAmbiguous || !namesOneHost { return .malformed }
        guard !method.isEmpty, target.first == "/" else { return .notSupported }
        for (index, kind) in zip(indices, indexing) {
            if let index { fields[index].indexing = kind }
        }
        targetIndexing = targetIndex.flatMap { $0 < indexing.count ? indexing[$0] : nil } ?? .never
        indices = []
        return nil
    }

    /// False if `:authority` and `host` name different hosts.
    ///
    /// If both are present, they must name the same host (RFC 9113, section 8.3.1).
    private var namesOneHost: Bool {
        guard let host, !authority.isEmpty, host != authority else { return true }
        return HTTPOrigin("https://\(host)") == HTTPOrigin("https://\(authority)")
    }

    // MARK: Body

    /// Sets the limit of the body, in bytes.
    /// - Returns: `.bodyTooLarge` if the announced length exceeds the limit; nil otherwise.
    mutating func allowBody(of limit: Int) -> Refusal? {
        bodyLimit = limit
        return length ?? 0 > limit ? .bodyTooLarge : nil
    }

    /// The announced length of the body, in bytes; nil if none is announced.
    var length: Int? { fields.first { $0.name == "content-length" }.flatMap { Int($0.value) } }

    /// The number of body bytes received so far.
    var bodyCount: Int { body.count }

    /// Allocates memory for a body that is within the limit.
    mutating func reserve(_ count: Int) {
        body.reserveCapacity(count)
    }

    /// Returns true if the rest of an unread body may arrive and be dropped, so that the stream need not be reset.
    /// - Parameter limit: The maximum length of such a body, in bytes. The peer must be able to send this much without
    ///   a WINDOW_UPDATE.
    func isShortBody(upTo limit: Int) -> Bool {
        !expectsContinue && length.map { $0 <= limit } ?? false
    }

    var expectsContinue: Bool {
        fields.contains { $0.name == "expect" && $0.value.lowercased() == "100-continue" }
    }

    mutating func append(body bytes: UnsafeBufferPointer<UInt8>) -> Refusal? {
        guard body.count + bytes.count <= bodyLimit else { return .bodyTooLarge }
        body.append(contentsOf: bytes)
        return nil
    }

    // MARK: Request

    func request(on connection: HTTPConnection, stream: Int32) -> HTTPRequest {
        var request = HTTPRequest(
            HTTPMethod(rawValue: method), target, authority: authority.isEmpty ? host ?? "" : authority,
            fields: HTTPFields(fields), body: body, connection: connection)
        request.streamID = stream
        request.targetIndexing = targetIndexing
        return request
    }
}
