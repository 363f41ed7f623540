/// One request in flight on a bulk session.
///
/// It is stored in a slot of `BulkStreamRing` and needs no heap allocation.
struct BulkStream {
    /// The stream id; 0 if the slot is free.
    var id: Int32 = 0
    /// The index of the session's run from which the request was drawn; -1 for a single request.
    var run: Int32 = -1
    var item: UInt32 = 0
    /// The number of bytes of the request's body that have been sent.
    var sent: Int32 = 0
    /// The send window of the stream, in bytes.
    var window: Int = 0
    /// True after the whole body has been sent.
    var isWritten = false
    /// The time at which the head was written, on the session's clock.
    var startedAt: UInt32 = 0
    /// The number of responses that had been received on the connection when the stream was opened.
    var answersBefore: UInt32 = 0
}

/// The streams of a bulk session, which can be looked up by id without a dictionary.
///
/// Stream ids are odd and increase. The slot of a stream is half of its id, modulo the capacity. If the slot of the
/// next id is occupied, that id is skipped.
struct BulkStreamRing {
    private var indices: [BulkStream]
    private(set) var count = 0

    /// Creates a ring without open streams.
    /// - Parameter capacity: The number of slots, which must be a power of two.
    init(capacity: Int) {
        indices = Array(repeating: BulkStream(), count: capacity)
    }

    var capacity: Int { indices.count }

    private func index(of id: Int32) -> Int { Int(id >> 1) & (indices.count - 1) }

    func isOpen(_ id: Int32) -> Bool { id > 0 && indices[index(of: id)].id == id }

    /// The stream with an id. The stream must be open.
    subscript(id: Int32) -> BulkStream {
        get { indices[index(of: id)] }
        set { indices[index(of: id)] = newValue }
    }

    /// Returns true if the slot for this stream id is free, so that the stream can be opened.
    func isFree(_ id: Int32) -> Bool { indices[index(of: id)].id == 0 }

    /// Returns the first usable id that is not less than `id`; nil if no ids are left or the ring is more than half
    /// full.
    func firstFree(from id: Int32) -> Int32? {
        var id = id
        guard count * 2 <= capacity else { return nil }
        while id < Int32.max - 2 {
            if isFree(id) { return id }
            id += 2
        }
        return nil
    }

    mutating func open(_ stream: BulkStream) {
        indices[index(of: stream.id)] = stream
        count += 1
    }

    @discardableResult
    mutating func close(_ id: Int32) -> BulkStream? {
        let index = index(of: id)
        guard id > 0, indices[index].id == id else { return nil }
        defer {
            indices[index].id = 0
            count -= 1
        }
        return indices[index]
    }

    /// Enlarges the ring and keeps its streams.
    mutating func grow(to capacity: Int) {
        let open = all
        self = BulkStreamRing(capacity: capacity)
        for stream in open { self.open(stream) }
    }

    var all: [BulkStream] { indices.filter { $0.id != 0 } }

    mutating func changeWindows(by difference: Int) {
        for index in indices.indices where indices[index].id != 0 { indices[index].window += difference }
    }
}
