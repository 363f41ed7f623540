/// Many requests to one origin.
///
/// Each request is an item of the batch. The parts that all requests share are stored once; an item stores only its
/// remaining parts.
///
/// The items are stored one after another in a single buffer, so that a batch of thousands needs only a few
/// allocations. The parts of an item are its path without the shared prefix, the values of `Shared.itemFieldNames` in
/// order, and its body unless all items share one body.
public struct RequestBatch: Sendable {
    /// The parts that all requests of a batch share.
    public struct Shared: Hashable, Sendable {
        public var origin: HTTPOrigin
        public var settings: TransportSettings
        public var method: HTTPMethod
        /// The common prefix of the paths, starting with a slash.
        public var pathPrefix: String
        /// The fields of every request. Fields marked `.never` are sent as literals in each request.
        public var fields: HTTPFields
        /// The names, in lower case, of the fields whose value differs per item.
        public var itemFieldNames: [String]
        /// The body of every request; nil if each item has its own.
        public var body: [UInt8]?
        /// The kind of responses that are plain successes and reported by index only.
        public var plainSuccess: PlainSuccess
        /// The names, in lower case, of the fields of an answer that the caller does not read. An answer that has only
        /// such fields may be reported without any field.
        public var ignoredAnswerFields: [String] = []

        public init(
            origin: HTTPOrigin, settings: TransportSettings = TransportSettings(), method: HTTPMethod = .post,
            pathPrefix: String, fields: HTTPFields = [:], itemFieldNames: [String] = [], body: [UInt8]? = nil,
            plainSuccess: PlainSuccess = .empty
        ) {
            self.origin = origin
            self.settings = settings
            self.method = method
            self.pathPrefix = pathPrefix
            self.fields = fields
            self.itemFieldNames = itemFieldNames
            self.body = body
            self.plainSuccess = plainSuccess
        }
    }

    public let shared: Shared
    /// The body of the items that are added next; nil if the code that adds an item writes its body, or if all items
    /// share one body.
    public var itemBody: [UInt8]?
    /// The signal that stops the batch.
    ///
    /// When the signal is set, unsent requests are not sent and are reported as `.cancelled`; requests in flight are
    /// awaited.
    public var stop: StopSignal?
    /// The flow to which the batch belongs, such as one notification whose pages are sent as batches.
    ///
    /// Batches of the same flow to one origin are sent one after another. On a connection, flows take turns, so that a
    /// flow with many batches gets no more turns than a flow with one. Nil gives the batch a flow of its own.
    public var flow: UInt64?
    /// The number of requests in the batch.
    public private(set) var count = 0
    private var storage: [UInt8] = []
    /// The end offset in `storage` of each part of each item.
    private var ends: [UInt32] = []
    private let partsPerItem: Int

    public init(_ shared: Shared, reserving items: Int = 0, bytesPerItem: Int = 128) {
        self.shared = shared
        partsPerItem = 1 + shared.itemFieldNames.count + (shared.body == nil ? 1 : 0)
        storage.reserveCapacity(items * bytesPerItem)
        ends.reserveCapacity(items * partsPerItem)
    }

    /// Adds a request. The closure writes the parts of the request in order: path, field values, own body.
    ///
    /// The closure must call `ItemWriter.part` once for each part, except for the body if `itemBody` is set.
    public mutating func append(_ write: (inout ItemWriter) -> Void) {
        var writer = ItemWriter(storage: storage, ends: ends)
        storage = []
        ends = []
        write(&writer)
        if let itemBody { writer.part { $0.append(contentsOf: itemBody) } }
        storage = writer.storage
        ends = writer.ends
        precondition(ends.count == (count + 1) * partsPerItem, "an item states every part that its batch announces")
        count += 1
    }

    /// Adds a request, given its complete parts.
    public mutating func append(path: some Sequence<UInt8>, values: [[UInt8]] = [], body: [UInt8]? = nil) {
        append { writer in
            writer.part { $0.append(contentsOf: path) }
            for value in values { writer.part { $0.append(contentsOf: value) } }
            if let body { writer.part { $0.append(contentsOf: body) } }
        }
    }

    /// Calls a closure with the path of an item, without the shared prefix.
    public func withPath<Result>(_ item: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withPart(0, of: item, read)
    }

    /// Calls a closure with the value that an item has for a field.
    /// - Parameter field: The index of the field in `Shared.itemFieldNames`.
    public func withValue<Result>(
        _ field: Int, of item: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        withPart(1 + field, of: item, read)
    }

    /// Calls a closure with the body of an item: its own body or the shared body.
    public func withBody<Result>(_ item: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard let body = shared.body else { return withPart(partsPerItem - 1, of: item, read) }
        return body.withUnsafeBufferPointer(read)
    }

    /// Gives access to the parts of all items. A value of this type is valid only until the closure that `withParts`
    /// calls has returned.
    public struct Parts {
        fileprivate let storage: UnsafeBufferPointer<UInt8>
        fileprivate let ends: UnsafeBufferPointer<UInt32>
        fileprivate let partsPerItem: Int

        private func start(_ index: Int) -> Int { index == 0 ? 0 : Int(ends[index - 1]) }

        /// Returns the length of a part. Parts are numbered in order: path, field values, own body.
        public func count(_ part: Int, of item: Int) -> Int {
            let index = item * partsPerItem + part
            return Int(ends[index]) - start(index)
        }

        public func part(_ part: Int, of item: Int) -> UnsafeBufferPointer<UInt8> {
            let index = item * partsPerItem + part
            return UnsafeBufferPointer(rebasing: storage[start(index)..<Int(ends[index])])
        }
    }

    /// Calls a closure with the parts of all items.
    ///
    /// Meant for callers that read many parts.
    public func withParts(_ read: (Parts) -> Void) {
        storage.withUnsafeBufferPointer { storage in
            ends.withUnsafeBufferPointer { read(Parts(storage: storage, ends: $0, partsPerItem: partsPerItem)) }
        }
    }

    private func withPart<Result>(
        _ part: Int, of item: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        let index = item * partsPerItem + part
        let start = index == 0 ? 0 : Int(ends[index - 1])
        let end = Int(ends[index])
        return storage.withUnsafeBufferPointer { read(UnsafeBufferPointer(rebasing: $0[start..<end])) }
    }
}

extension RequestBatch {
    /// Writes the parts of one item.
    public struct ItemWriter {
        fileprivate var storage: [UInt8]
        fileprivate var ends: [UInt32]

        /// Writes the next part. The closure must only append to the array.
        public mutating func part(_ write: (inout [UInt8]) -> Void) {
            write(&storage)
            ends.append(UInt32(storage.count))
        }
    }
}
