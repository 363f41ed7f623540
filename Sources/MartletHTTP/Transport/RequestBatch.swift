/// Many requests to one origin, which states once what they share and per item only what differs.
///
/// Items lie one after the other in a single buffer, so that a batch of thousands costs a handful of allocations:
/// for each item the rest of its path, the values of `Shared.itemFieldNames` in order, and its body where the items do
/// not share one.
public struct RequestBatch: Sendable {
    /// What all requests of a batch have in common.
    public struct Shared: Hashable, Sendable {
        public var origin: HTTPOrigin
        public var settings: TransportSettings
        public var method: HTTPMethod
        /// The path up to where the items differ, starting with a slash.
        public var pathPrefix: String
        /// Fields of every request. Those marked `.never` stay literals in each of them.
        public var fields: HTTPFields
        /// Names of the fields whose value each item states, in lower case.
        public var itemFieldNames: [String]
        /// The body of every request, or nil where each item has its own.
        public var body: [UInt8]?
        /// Which answers are told as plain successes, by their number alone.
        public var plainSuccess: PlainSuccess

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
    /// The body of the items that are added from now on, where items have their own and the code that adds them does not write
    /// it.
    public var itemBody: [UInt8]?
    /// Set where what has not been begun to be sent is not wanted any more: it is reported as `.cancelled`, without having
    /// been processed. What is on its way is waited for.
    public var stop: StopSignal?
    /// Batches of one flow to one origin are sent one after another and share their turns among those of others: so do the
    /// pages of one message. nil for a batch of its own.
    public var flow: UInt64?
    /// How many requests there are.
    public private(set) var count = 0
    private var storage: [UInt8] = []
    /// Where each part of each item ends in `storage`.
    private var ends: [UInt32] = []
    private let partsPerItem: Int

    public init(_ shared: Shared, reserving items: Int = 0, bytesPerItem: Int = 128) {
        self.shared = shared
        partsPerItem = 1 + shared.itemFieldNames.count + (shared.body == nil ? 1 : 0)
        storage.reserveCapacity(items * bytesPerItem)
        ends.reserveCapacity(items * partsPerItem)
    }

    /// Adds a request whose parts the closure writes in order: path, field values, own body.
    ///
    /// The closure calls `ItemWriter.part` exactly as often as the batch has parts per item, once less while there is an
    /// `itemBody`.
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

    /// Adds a request from whole parts.
    public mutating func append(path: some Sequence<UInt8>, values: [[UInt8]] = [], body: [UInt8]? = nil) {
        append { writer in
            writer.part { $0.append(contentsOf: path) }
            for value in values { writer.part { $0.append(contentsOf: value) } }
            if let body { writer.part { $0.append(contentsOf: body) } }
        }
    }

    /// The path of an item after the shared prefix.
    public func withPath<Result>(_ item: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withPart(0, of: item, read)
    }

    /// The value of the item's field at an index of `Shared.itemFieldNames`.
    public func withValue<Result>(
        _ field: Int, of item: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        withPart(1 + field, of: item, read)
    }

    /// The body of an item: its own, or the one that all share.
    public func withBody<Result>(_ item: Int, _ read: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard let body = shared.body else { return withPart(partsPerItem - 1, of: item, read) }
        return body.withUnsafeBufferPointer(read)
    }

    /// The parts of all items.
    public struct Parts {
        fileprivate let storage: UnsafeBufferPointer<UInt8>
        fileprivate let ends: UnsafeBufferPointer<UInt32>
        fileprivate let partsPerItem: Int

        private func start(_ index: Int) -> Int { index == 0 ? 0 : Int(ends[index - 1]) }

        /// A part's length, by its number: path, field values, own body.
        public func count(_ part: Int, of item: Int) -> Int {
            let index = item * partsPerItem + part
            return Int(ends[index]) - start(index)
        }

        public func part(_ part: Int, of item: Int) -> UnsafeBufferPointer<UInt8> {
            let index = item * partsPerItem + part
            return UnsafeBufferPointer(rebasing: storage[start(index)..<Int(ends[index])])
        }
    }

    /// Lends the parts of all items, for those who go through many.
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

        /// Writes the next part by appending to what is there already, which must not be touched.
        public mutating func part(_ write: (inout [UInt8]) -> Void) {
            write(&storage)
            ends.append(UInt32(storage.count))
        }
    }
}
